//! A server that is measured.

use crate::{Kind, Target, TestError};

/// A server that is measured.
#[derive(Clone, Debug)]
pub struct Server {
    /// As it is called in the results.
    pub name: String,
    /// Where it is.
    pub target: Target,
    /// Of which kind it is.
    pub kind: Kind,
}

impl Server {
    /// Asks a server of which kind it is.
    ///
    /// # Errors
    /// [`TestError::NotLoopback`]; it does not answer.
    pub async fn reach(name: String, target: Target) -> Result<Self, TestError> {
        target.loopback()?;
        let kind = target.kind().await?;
        Ok(Self { name, target, kind })
    }
}
