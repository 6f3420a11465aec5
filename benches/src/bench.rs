//! A run: the engines, the selected works, and the queries, which the engines run in turns.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Result;
use crate::engine::{Answer, Engine, EngineKind, Fingerprint, Opening};
use crate::read::{Arguments, Read, Weight};
use crate::report::{Figures, Report};
use crate::rows::{Log, Mix};

/// Questions of a work whose answers are compared value by value.
const LOOKS: usize = 3;

/// Which works are wanted.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// A work's name, or how names begin; none are all.
    pub only: Vec<String>,
    /// All works' names.
    pub names: Vec<String>,
}

impl Selection {
    /// Whether this work is wanted. What is a work's name means that one alone.
    pub fn has(&self, name: &str) -> bool {
        let is_meant = |only: &String| only == name || (!self.names.contains(only) && name.starts_with(only.as_str()));
        self.only.is_empty() || self.only.iter().any(is_meant)
    }

    /// The entry that means no work.
    pub fn unknown(&self) -> Option<&String> {
        self.only.iter().find(|only| !self.names.iter().any(|name| name.starts_with(only.as_str())))
    }
}

/// How often things are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Often enough for figures.
    Full,
    /// Once or twice, to see that it runs.
    Smoke,
}

impl Effort {
    /// Of what is done so often for figures.
    pub fn of(self, full: usize) -> usize {
        match self {
            Effort::Full => full,
            Effort::Smoke => full.min(2),
        }
    }

    /// Rounds, and questions in each engine's turn.
    fn of_questions(self, weight: Weight) -> (usize, usize) {
        match weight {
            Weight::Light => (self.of(100), self.of(20)),
            Weight::Range => (self.of(100), self.of(5)),
            Weight::Scan => (self.of(7), 1),
        }
    }
}

/// An engine that is open.
pub struct Peer {
    /// Which.
    pub kind: EngineKind,
    /// Where its rows lie.
    pub folder: PathBuf,
    /// It.
    pub engine: Box<dyn Engine>,
}

impl Peer {
    /// Opens or makes an engine's folder inside of `folder`.
    pub fn open(kind: EngineKind, folder: &Path, opening: Opening) -> Result<Self> {
        let folder = folder.join(kind.name());
        let engine = kind.open(&folder, opening)?;
        Ok(Self { kind, folder, engine })
    }
}

/// A run.
pub struct Bench {
    /// The engines that have the log, in the order of their turns.
    pub peers: Vec<Peer>,
    /// The log that they have.
    pub log: Log,
    /// The number that the next new row has.
    pub next_row: u64,
    /// Which works are wanted.
    pub selection: Selection,
    /// How often.
    pub effort: Effort,
    /// Where figures go.
    pub report: Report,
    /// Where everything lies.
    pub folder: PathBuf,
    /// Where random choices come from.
    pub mix: Mix,
    /// How engines are opened, unless a work says otherwise.
    pub opening: Opening,
}

impl Bench {
    /// Whether a work is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.selection.has(name)
    }

    /// The kinds of the engines.
    pub fn kinds(&self) -> Vec<EngineKind> {
        self.peers.iter().map(|peer| peer.kind).collect()
    }

    /// Closes an engine, calls `between`, and opens it again: how long that opening took.
    ///
    /// One whose rows would be gone stays as it is: `None`.
    pub fn reopen(
        &mut self,
        place: usize,
        opening: Opening,
        between: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Option<Duration>> {
        if !self.peers.get(place).is_some_and(|peer| peer.kind.is_persistent()) {
            return Ok(None);
        }
        let Peer { kind, folder, engine } = self.peers.remove(place);
        drop(engine);
        between(&folder)?;
        let started = Instant::now();
        let engine = kind.open(&folder, opening)?;
        let time = started.elapsed();
        self.peers.insert(place, Peer { kind, folder, engine });
        Ok(Some(time))
    }

    /// Opens all engines anew, but for those whose rows would be gone.
    pub fn reopen_all(&mut self, opening: impl Fn(&Path) -> Result<Opening>) -> Result<()> {
        for place in 0..self.peers.len() {
            let folder = self.peers.get(place).map(|peer| peer.folder.clone()).unwrap_or_default();
            self.reopen(place, opening(&folder)?, |_| Ok(()))?;
        }
        Ok(())
    }

    /// Has every engine read all that it has, so that what follows finds it in memory as far as that goes.
    pub fn warm(&mut self) -> Result<()> {
        self.warm_by(Read::Everything)
    }

    /// Asks every engine what reads all that a work needs.
    pub fn warm_by(&mut self, read: Read) -> Result<()> {
        self.peers.iter_mut().try_for_each(|peer| peer.engine.ask(read, &[Vec::new()]).map(drop))
    }

    /// Asks every engine the same questions, in turns, compares the answers and reports the times.
    pub fn measure(&mut self, read: Read, work: &str) -> Result<()> {
        self.measure_of(read, work, |_| true)
    }

    /// The same of those engines that [`Bench::reopen_all`] has brought into a state: the others are not in it.
    pub fn measure_reopened(&mut self, read: Read, work: &str) -> Result<()> {
        self.measure_of(read, work, EngineKind::is_persistent)
    }

    fn measure_of(&mut self, read: Read, work: &str, takes_part: impl Fn(EngineKind) -> bool) -> Result<()> {
        if !self.wants(work) {
            return Ok(());
        }
        let (rounds, asks) = self.effort.of_questions(read.weight());
        // Before anything is timed: a look at every value would cool what the timed questions find warm.
        for _ in 0..asks.min(LOOKS) {
            let arguments = read.arguments(self.log, &mut self.mix);
            compare_rows(work, &mut self.peers, read, &arguments)?;
        }
        let times = |kind| takes_part(kind).then(|| Vec::with_capacity(rounds * asks));
        let mut times: Vec<_> = self.kinds().into_iter().map(times).collect();
        for round in 0..rounds {
            self.turn(read, work, round, asks, &mut times)?;
        }
        self.report_times(work, times)
    }

    /// One turn of each engine, beginning with another one each round. The first answer of a turn only warms what
    /// the others' turns have cooled.
    fn turn(
        &mut self,
        read: Read,
        work: &str,
        round: usize,
        asks: usize,
        times: &mut [Option<Vec<Duration>>],
    ) -> Result<()> {
        let argument_lists: Vec<_> = (0..=asks).map(|_| read.arguments(self.log, &mut self.mix)).collect();
        let mut expected: Option<Vec<i64>> = None;
        for turn in 0..self.peers.len() {
            let place = (turn + round) % self.peers.len();
            let (Some(peer), Some(times)) = (self.peers.get_mut(place), times.get_mut(place)) else { continue };
            if times.is_none() {
                continue;
            }
            let Some(answers) = peer.engine.ask(read, &argument_lists)? else {
                *times = None;
                continue;
            };
            compare(work, peer.kind, &answers, &mut expected)?;
            times.iter_mut().for_each(|times| times.extend(answers.iter().skip(1).map(|answer| answer.time)));
        }
        Ok(())
    }

    /// Reports times of each engine; `None` are those without.
    pub fn report_times(&mut self, work: &str, times: Vec<Option<Vec<Duration>>>) -> Result<()> {
        let figures = self.kinds().into_iter().zip(times);
        let figures = figures.filter_map(|(kind, times)| Some((kind, Figures::of_times(times?)))).collect();
        self.report.work(work, self.log.rows, figures)
    }
}

/// Holds the engines' answers to one question to each other, value by value. Nothing is timed.
pub fn compare_rows(work: &str, peers: &mut [Peer], read: Read, arguments: &Arguments) -> Result<()> {
    if peers.len() < 2 {
        return Ok(());
    }
    let mut expected: Option<(EngineKind, Fingerprint)> = None;
    for Peer { kind, engine, .. } in peers {
        let Some(found) = engine.look(read, arguments)? else { continue };
        match expected {
            None => expected = Some((*kind, found)),
            Some((_, expected)) if expected == found => {}
            Some((other, expected)) => {
                let (kind, other) = (kind.name(), other.name());
                return Err(format!("{work}: {kind} has {found}; {other} has {expected}").into());
            }
        }
    }
    Ok(())
}

/// Holds the sums of an engine's answers to the ones before it.
pub fn compare(work: &str, kind: EngineKind, answers: &[Answer], expected: &mut Option<Vec<i64>>) -> Result<()> {
    let sums: Vec<i64> = answers.iter().map(|answer| answer.sum).collect();
    match expected {
        None => *expected = Some(sums),
        Some(expected) if *expected == sums => {}
        Some(expected) => {
            let differs = expected.iter().zip(&sums).position(|(a, b)| a != b).unwrap_or_default();
            let (a, b) = (expected.get(differs), sums.get(differs));
            return Err(
                format!("{work}: the answer of {} differs from the others': {b:?}, not {a:?}", kind.name()).into()
            );
        }
    }
    Ok(())
}
