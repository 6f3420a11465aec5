//! A table of a cluster.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::actions::Action;
use super::buffered_writer::BufferedWriter;
use super::multi::multi;
use super::row_calls::{self, CoprocessorCall};
use crate::cluster::Cluster;
use crate::context::CallContext;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::region::Region;
use crate::request::{Condition, Get, Increment, Mutation, Scan};
use crate::row::Row;
use crate::scanner::Scanner;
use crate::table_name::TableName;

/// A table of a cluster. Nothing is asked of the cluster before the first call; a clone is cheap.
#[derive(Clone)]
pub struct Table {
    cluster: Arc<Cluster>,
    name: TableName,
}

impl Table {
    pub(crate) fn new(cluster: Arc<Cluster>, name: TableName) -> Self {
        Self { cluster, name }
    }

    /// The table's name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Reads a row; it is empty if it is not there.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn get(&self, context: &CallContext, get: Get) -> Result<Row, Error> {
        row_calls::get(&self.cluster, &self.name, context, get).await
    }

    /// Whether a row is there, or one of the columns that are read.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn exists(&self, context: &CallContext, get: Get) -> Result<bool, Error> {
        row_calls::exists(&self.cluster, &self.name, context, get).await
    }

    /// Reads rows with one call for each server, in the order of the gets.
    pub async fn get_many(&self, context: &CallContext, gets: Vec<Get>) -> Vec<Result<Row, Error>> {
        let outcomes = self.multi(context, gets.into_iter().map(Action::Get).collect()).await;
        outcomes.into_iter().map(Outcome::into_result).collect()
    }

    /// Puts or deletes.
    pub async fn mutate(&self, context: &CallContext, mutation: impl Into<Mutation>) -> Outcome<()> {
        row_calls::mutate(&self.cluster, &self.name, context, mutation.into()).await.map(|_| ())
    }

    /// Adds to columns of a row; the new values. If the reply is lost, the call is sent again with the same nonce, so that the server
    /// adds once; but a region that has moved meanwhile does not know the nonce, and then the outcome is unknown.
    pub async fn increment(&self, context: &CallContext, increment: Increment) -> Outcome<Row> {
        row_calls::mutate(&self.cluster, &self.name, context, increment.into()).await
    }

    /// Writes a row if a condition holds; whether it did. Several mutations are of one row, and made in one step.
    ///
    /// If the reply is lost, the outcome is unknown: after a second call the condition could fail because of the first one.
    pub async fn check_and_mutate(
        &self,
        context: &CallContext,
        condition: Condition,
        mutations: Vec<Mutation>,
    ) -> Outcome<bool> {
        row_calls::check_and_mutate(&self.cluster, &self.name, context, Some(condition), mutations).await
    }

    /// Makes several mutations of one row in one step.
    pub async fn mutate_row(&self, context: &CallContext, mutations: Vec<Mutation>) -> Outcome<()> {
        row_calls::check_and_mutate(&self.cluster, &self.name, context, None, mutations).await.map(|_| ())
    }

    /// Makes many actions, with one call for each server and 4 MiB of it. The outcomes are in the order of the actions; that of a write
    /// has an empty row, that of an increment the new values.
    ///
    /// The actions have no order among each other: a get does not see the puts beside it, and two writes of one row may come in either
    /// order.
    pub async fn multi(&self, context: &CallContext, actions: Vec<Action>) -> Vec<Outcome<Row>> {
        multi(&self.cluster, &self.name, context, actions).await
    }

    /// A writer that sends mutations in batches, several at a time.
    pub fn buffered_writer(&self) -> BufferedWriter {
        BufferedWriter::new(Arc::clone(&self.cluster), self.name.clone())
    }

    /// Reads rows. Nothing is asked of the cluster before the scanner's first call.
    pub fn scan(&self, scan: Scan) -> Scanner {
        Scanner::new(Arc::clone(&self.cluster), self.name.clone(), scan)
    }

    /// The regions in the order of their keys.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn regions(&self, context: &CallContext) -> Result<Vec<Region>, Error> {
        self.cluster.locator.regions(context, &self.name).await
    }

    /// The region of a row key.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn region(&self, context: &CallContext, row: &[u8]) -> Result<Region, Error> {
        self.cluster.locator.locate(context, &self.name, row, crate::locator::Side::At).await
    }

    /// Calls a method of a coprocessor at the region of a row: the bytes of its answer. A call that changes nothing is sent again if
    /// its reply is lost.
    pub async fn call_coprocessor(
        &self,
        context: &CallContext,
        row: &[u8],
        call: CoprocessorCall<'_>,
    ) -> Outcome<Bytes> {
        row_calls::call_coprocessor(&self.cluster, &self.name, context, row, call).await
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.name)
    }
}
