use std::future::Future;
use std::time::Duration;

use crate::TestError;

/// What the checks of a client came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Checks that were passed.
    pub passed: usize,
    /// A line for each one that was not, and for what else went wrong.
    pub failures: Vec<String>,
}

impl Report {
    /// Of the output of a program: its lines `ok NAME` and `not ok NAME: detail`. Another end than by exit code 0 is a failure even if no
    /// check says so, and so is an end without a check.
    pub fn of_output(output: &str, ended_well: bool) -> Self {
        let passed = output.lines().filter(|line| line.starts_with("ok ")).count();
        let mut failures: Vec<String> =
            output.lines().filter_map(|line| line.strip_prefix("not ok ")).map(str::to_owned).collect();
        if failures.is_empty() && !(ended_well && passed > 0) {
            let lines: Vec<&str> = output.lines().filter(|line| !line.starts_with("ok ")).collect();
            let last = lines.get(lines.len().saturating_sub(LINES_SHOWN_MAX)..).unwrap_or_default();
            failures.push(format!("the program did not end well after {passed} checks:\n{}", last.join("\n")));
        }
        Self { passed, failures }
    }

    /// Runs a check of this program and notes how it ended. One that takes longer than this is a failure.
    pub async fn check(&mut self, name: &str, time_max: Duration, check: impl Future<Output = Result<(), TestError>>) {
        match tokio::time::timeout(time_max, check).await {
            Ok(Ok(())) => self.passed += 1,
            Ok(Err(error)) => self.failures.push(format!("{name}: {}", error.line())),
            Err(_) => self.failures.push(format!("{name}: not done in {time_max:?}")),
        }
    }

    /// The line about a client that ran for this time, and behind it the failures.
    pub fn line(&self, client: &str, took: Duration) -> String {
        let took = took.as_secs_f64();
        let Self { passed, failures } = self;
        if failures.is_empty() {
            return format!("ok {client}: {passed} checks in {took:.1} s");
        }
        let mut text =
            format!("FAILED {client}: {} of {} checks in {took:.1} s", failures.len(), passed + failures.len());
        for failure in failures {
            text.push_str("\n    ");
            text.push_str(&failure.replace('\n', "\n    "));
        }
        text
    }
}

/// Lines of a program's output that are shown if it broke off.
const LINES_SHOWN_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Report;

    #[test]
    fn lines_of_a_program_are_counted() {
        let report = Report::of_output("ok a\nnoise\nnot ok b: why\nok c\n", false);
        assert_eq!(report, Report { passed: 2, failures: vec!["b: why".to_owned()] });
        assert_eq!(report.line("x", Duration::from_millis(1500)), "FAILED x: 1 of 3 checks in 1.5 s\n    b: why");
        assert_eq!(Report::of_output("ok a\n", true).line("x", Duration::ZERO), "ok x: 1 checks in 0.0 s");
    }

    #[test]
    fn a_program_that_breaks_off_has_failed() {
        for (output, ended_well) in [("ok a\nTraceback\n", false), ("", true), ("nothing\n", true)] {
            assert_eq!(Report::of_output(output, ended_well).failures.len(), 1, "{output:?}");
        }
    }
}
