//! The server of Phoenix's catalog, as far as the store asks it: it answers with recorded definitions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::catalog_rows::CatalogRows;
use bytes::Bytes;
use fake_hbase::{Cluster, Exception};
use prost::Message;
use saltwing_phoenix::{CATALOG_FAMILY, CATALOG_TABLE, CatalogKey, CatalogKeys, TableDefinition, TableKind};

#[derive(Clone, PartialEq, Message)]
struct GetTable {
    #[prost(bytes = "vec", required, tag = "1")]
    tenant: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    schema: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "3")]
    name: Vec<u8>,
    #[prost(int64, required, tag = "4")]
    known_time: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Reply {
    #[prost(int32, optional, tag = "1")]
    code: Option<i32>,
    #[prost(bytes = "vec", optional, tag = "3")]
    table: Option<Vec<u8>>,
    #[prost(string, repeated, tag = "4")]
    to_delete: Vec<String>,
}

fn reply(code: i32, table: Option<Vec<u8>>) -> Reply {
    Reply { code: Some(code), table, to_delete: Vec::new() }
}

/// The time of a definition, and its message.
type Defined = (i64, Vec<u8>);

/// The definitions of the server.
#[derive(Clone, Default)]
pub struct PhoenixServer {
    tables: Arc<Mutex<BTreeMap<String, Defined>>>,
    rows: Arc<Mutex<CatalogRows>>,
    /// The methods that fail at their next call.
    failures: Arc<Mutex<Vec<&'static str>>>,
}

impl PhoenixServer {
    /// Lets a cluster answer with these definitions.
    pub fn start(cluster: &Cluster) -> Self {
        let server = Self::default();
        cluster.create_table(CATALOG_TABLE, &[CATALOG_FAMILY], &[]).unwrap();
        let Self { tables, rows, failures } = server.clone();
        cluster.set_coprocessor(move |region, call| {
            assert_eq!((region.table.as_str(), call.service_name.as_str()), (CATALOG_TABLE, "MetaDataService"));
            if call.method_name != "getTable" {
                if failures.lock().unwrap().pop_if(|method| *method == call.method_name).is_some() {
                    return Err(Exception::do_not_retry("the test wants it so"));
                }
                let reply = change(&mut tables.lock().unwrap(), &mut rows.lock().unwrap(), call);
                return Ok(reply.encode_to_vec().into());
            }
            let asked = GetTable::decode(call.request.as_ref()).map_err(|error| Exception::io(error.to_string()))?;
            assert_eq!(call.row, Bytes::from([&asked.tenant[..], &asked.schema, &asked.name].join(&0)));
            let schema = String::from_utf8(asked.schema).unwrap();
            let name = String::from_utf8(asked.name).unwrap();
            let name = if schema.is_empty() { name } else { format!("{schema}.{name}") };
            let found = match tables.lock().unwrap().get(&name) {
                None => reply(1, None),
                Some((time, _)) if *time == asked.known_time => reply(0, None),
                Some((_, message)) => reply(0, Some(message.clone())),
            };
            Ok(found.encode_to_vec().into())
        });
        server
    }

    /// Defines a table, or defines it anew; a row of the catalog lists it.
    pub fn define(&self, cluster: &Cluster, message: &[u8]) -> TableDefinition {
        let definition = TableDefinition::from_bytes(message).unwrap();
        let letter = match &definition.kind {
            TableKind::System => b"s",
            TableKind::Table => b"u",
            TableKind::View(_) => b"v",
            TableKind::Index(_) => b"i",
        };
        self.list(cluster, definition.schema.as_deref(), &definition.name, letter);
        self.answer(&definition.full_name(), 1, message);
        definition
    }

    /// Answers with a message, whatever it says, as one of this time. So often the table was changed, too.
    pub fn answer(&self, full_name: &str, time: u8, message: &[u8]) {
        // Fields at the end of a message take the place of earlier ones: the number of changes, and the time.
        let message = [message, &[5 << 3, time, 6 << 3, time]].concat();
        self.tables.lock().unwrap().insert(full_name.to_owned(), (i64::from(time), message));
    }

    /// Writes the row of the catalog that lists a table.
    pub fn list(&self, cluster: &Cluster, schema: Option<&str>, name: &str, kind: &[u8]) {
        let (schema, table) = (schema.map(str::to_owned), Some(name.to_owned()));
        let key = CatalogKey { schema, table, ..CatalogKey::default() };
        let key = CatalogKeys::new().unwrap().encode(&key).unwrap();
        cluster.put(CATALOG_TABLE, &key, (CATALOG_FAMILY, "TABLE_TYPE"), kind).unwrap();
    }

    /// Lets the next call of a method fail.
    pub fn fail(&self, method: &'static str) {
        self.failures.lock().unwrap().push(method);
    }

    /// Changes a table as another client does: the number of its changes grows.
    pub fn touch(&self, full_name: &str) {
        let mut tables = self.tables.lock().unwrap();
        let (time, message) = tables.get_mut(full_name).unwrap();
        *time += 1;
        let changes = u8::try_from(*time - 1000).unwrap();
        message.extend([5 << 3, changes, 6 << 3]);
        prost::encoding::encode_varint(u64::try_from(*time).unwrap(), message);
        self.rows.lock().unwrap().touch(full_name, u64::from(changes));
    }

    /// Drops a table; the row that lists it stays.
    pub fn forget(&self, full_name: &str) {
        self.tables.lock().unwrap().remove(full_name);
    }
}

/// Makes a change of the catalog.
fn change(
    tables: &mut BTreeMap<String, Defined>,
    rows: &mut CatalogRows,
    call: &hbase_client::proto::CoprocessorServiceCall,
) -> Reply {
    let key = CatalogKeys::new().unwrap().decode(&call.row).unwrap();
    let name = key.table.unwrap();
    let full_name = key.schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}"));
    let known = rows.sequence_number(&call.row);
    match (&*call.method_name, known) {
        ("createTable", _) if tables.contains_key(&full_name) => return reply(0, None),
        ("createTable", _) => rows.apply(&call.request),
        (_, _) if !tables.contains_key(&full_name) => return reply(1, None),
        ("dropTable", _) => {
            rows.remove(&call.row);
            tables.remove(&full_name);
            return Reply { to_delete: vec![full_name], ..reply(0, None) };
        }
        (_, None) => return reply(7, None),
        (_, Some(known)) => {
            let mut changed = rows.clone();
            changed.apply(&call.request);
            if changed.sequence_number(&call.row) != Some(known + 1) {
                return reply(4, None);
            }
            *rows = changed;
        }
    }
    let number = rows.sequence_number(&call.row).unwrap();
    tables.insert(full_name, (number + 1000, rows.table(&call.row)));
    reply(i32::from(call.method_name == "createTable"), None)
}
