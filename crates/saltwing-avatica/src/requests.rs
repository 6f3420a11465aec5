//! The requests about one connection, each with its answer.

use crate::connection::Connection;
use crate::error::AvaticaError;
use crate::messages::{ConnectionSyncResponse, StateType, SyncResultsRequest, SyncResultsResponse};
use crate::properties::properties;
use crate::wire::{Request, Response};

impl Connection {
    /// Answers a request. Those that open or close a connection are answered where the connections are.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) async fn answer(&mut self, request: Request) -> Result<Response, AvaticaError> {
        Ok(match request {
            Request::OpenConnection(_) | Request::CloseConnection(_) => {
                debug_assert!(false, "the connections are asked to open and close");
                return Err(AvaticaError::Bug("a request to open or close came to a connection"));
            }
            Request::ConnectionSync(request) => {
                let properties = self.synchronize(&request.conn_props.unwrap_or_default()).await?;
                Response::ConnectionSync(ConnectionSyncResponse { conn_props: Some(properties) })
            }
            Request::CreateStatement(_) => Response::CreateStatement(self.create_statement()?),
            Request::CloseStatement(request) => {
                self.statements.close(request.statement_id);
                Response::CloseStatement
            }
            Request::Prepare(request) => Response::Prepare(self.prepare_statement(request).await?),
            Request::Execute(request) => Response::Execute(self.execute(request).await?),
            Request::PrepareAndExecute(request) => Response::Execute(self.prepare_and_execute(request).await?),
            Request::Fetch(request) => Response::Fetch(self.fetch(request).await?),
            Request::SyncResults(request) => Response::SyncResults(self.sync_results(request).await?),
            Request::PrepareAndExecuteBatch(request) => {
                Response::ExecuteBatch(self.prepare_and_execute_batch(request).await?)
            }
            Request::ExecuteBatch(request) => Response::ExecuteBatch(self.execute_batch(request).await?),
            Request::Commit(_) => self.commit().await.map(|()| Response::Commit)?,
            Request::Rollback(_) => self.roll_back().await.map(|()| Response::Rollback)?,
            Request::Catalogs(_) => Response::ResultSet(self.catalogs()?),
            Request::Schemas(request) => Response::ResultSet(self.schemas(request).await?),
            Request::Tables(request) => Response::ResultSet(self.tables(request).await?),
            Request::Columns(request) => Response::ResultSet(self.columns(request).await?),
            Request::TableTypes(_) => Response::ResultSet(self.table_types()?),
            Request::TypeInfo(_) => Response::ResultSet(self.type_info()?),
            Request::DatabaseProperty(_) => Response::DatabaseProperty(properties()?),
        })
    }

    async fn sync_results(&mut self, request: SyncResultsRequest) -> Result<SyncResultsResponse, AvaticaError> {
        let (id, state) = (request.statement_id, request.state.unwrap_or_default());
        let more_results = match state.r#type == StateType::Metadata as i32 {
            true => self.sync_metadata(id, &state, request.offset).await?,
            false => self.sync_statement(id, &state, request.offset).await?,
        };
        Ok(SyncResultsResponse { missing_statement: false, more_results })
    }
}
