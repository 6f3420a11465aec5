//! The HBase tables under Phoenix's.

use bytes::Bytes;
use hbase_client::{Admin, CallContext, Error as CallError, Family, Scan, TableDescriptor, TableName};
use saltwing_phoenix::TableDefinition;

use super::family_options::HbaseOptions;
use crate::HbaseError;
use crate::cluster::Cluster;

/// The classes of Phoenix that region servers run for a table, in their order, each with what follows its priority.
const COPROCESSORS: [(&str, &str); 5] = [
    ("org.apache.phoenix.coprocessor.ScanRegionObserver", ""),
    ("org.apache.phoenix.coprocessor.UngroupedAggregateRegionObserver", ""),
    ("org.apache.phoenix.coprocessor.GroupedAggregateRegionObserver", ""),
    ("org.apache.phoenix.coprocessor.ServerCachingEndpointImpl", ""),
    (
        "org.apache.phoenix.hbase.index.IndexRegionObserver",
        "index.builder=org.apache.phoenix.index.PhoenixIndexBuilder,org.apache.hadoop.hbase.index.codec.class=org.apache.phoenix.index.PhoenixIndexCodec",
    ),
];
const PRIORITY: u32 = 805_306_366;
/// What Phoenix sets of a family.
const FAMILY_ATTRIBUTES: [(&str, &str); 3] =
    [("DATA_BLOCK_ENCODING", "FAST_DIFF"), ("BLOOMFILTER", "ROW"), ("VERSIONS", "1")];

/// The descriptor of a new table.
pub(super) fn descriptor(name: &TableName, definition: &TableDefinition, options: &HbaseOptions) -> TableDescriptor {
    let mut names: Vec<&str> = definition.columns.iter().filter_map(|column| column.family.as_deref()).collect();
    if names.is_empty() {
        names.push(definition.empty_family());
    }
    names.sort_unstable();
    names.dedup();
    let families = names.into_iter().map(|name| family(name, options));
    let mut table = TableDescriptor::new(name, families);
    for (number, (class, arguments)) in COPROCESSORS.iter().enumerate() {
        table = table.attribute(&format!("coprocessor${}", number + 1), &format!("|{class}|{PRIORITY}|{arguments}"));
    }
    options.table.iter().fold(table, |table, (name, value)| table.attribute(name, value))
}

fn family(name: &str, options: &HbaseOptions) -> Family {
    let mut attributes: Vec<(&str, &str)> = FAMILY_ATTRIBUTES.to_vec();
    let of_family = |of: &Option<String>| of.as_deref().is_none_or(|of| of.eq_ignore_ascii_case(name));
    // Those of the family itself come later, and count.
    for is_own in [false, true] {
        let given = options.families.iter().filter(|(of, ..)| of_family(of) && of.is_some() == is_own);
        for (_, option, value) in given {
            attributes.retain(|(known, _)| known != option);
            attributes.push((option, value));
        }
    }
    let new = Family::new(name.as_bytes().to_vec());
    attributes.into_iter().fold(new, |family, (name, value)| family.attribute(name, value))
}

/// Creates an HBase table. One of this name that an interrupted statement has left, or a concurrent one makes, will do, if it is the same and empty.
///
/// # Errors
/// [`HbaseError::TableInTheWay`]; errors of calls.
pub(super) async fn create(
    cluster: &Cluster,
    descriptor: &TableDescriptor,
    splits: &[Vec<u8>],
    context: &CallContext,
) -> Result<(), HbaseError> {
    let admin = cluster.client.admin();
    let keys = splits.iter().map(|key| Bytes::copy_from_slice(key));
    match admin.create_table(context, descriptor, keys).await {
        Err(error) if is_of_class(&error, "TableExistsException") => adopt(cluster, &admin, descriptor, context).await,
        created => Ok(created?),
    }
}

async fn adopt(
    cluster: &Cluster,
    admin: &Admin,
    wanted: &TableDescriptor,
    context: &CallContext,
) -> Result<(), HbaseError> {
    let name = wanted.name()?;
    let refused = |reason: &str| HbaseError::TableInTheWay { table: name.to_string(), reason: reason.to_owned() };
    let Some(found) = admin.descriptor(context, &name).await? else {
        return Err(refused("it came and went while the statement ran: try again"));
    };
    let families =
        |table: &TableDescriptor| -> Vec<Bytes> { table.families().map(|family| family.name().clone()).collect() };
    let observer = format!("coprocessor${}", COPROCESSORS.len());
    if families(&found) != families(wanted) || found.value(&observer) != wanted.value(&observer) {
        return Err(refused("it is another one than the statement makes"));
    }
    if cluster.client.table(name.clone()).scan(Scan::all().limit(1)).next_row(context).await?.is_some() {
        return Err(refused("it has rows"));
    }
    Ok(())
}

/// Adds the families that an HBase table lacks, each like its first one.
///
/// # Errors
/// Errors of calls.
pub(super) async fn add_families(
    cluster: &Cluster,
    name: &TableName,
    families: &[String],
    context: &CallContext,
) -> Result<(), HbaseError> {
    let admin = cluster.client.admin();
    let Some(found) = admin.descriptor(context, name).await? else {
        return Err(CallError::TableNotFound { table: name.to_string() }.into());
    };
    for family in families {
        if found.families().any(|known| known.name() == family.as_bytes()) {
            continue;
        }
        let like = found.families().next().unwrap_or_else(|| Family::new(Bytes::new()));
        admin.add_family(context, name, &like.named(family.as_bytes().to_vec())).await?;
    }
    Ok(())
}

/// Deletes an HBase table. One that is gone is deleted.
///
/// # Errors
/// Errors of calls.
pub(super) async fn delete(cluster: &Cluster, name: &TableName, context: &CallContext) -> Result<(), HbaseError> {
    let admin = cluster.client.admin();
    let is_gone = |error: &CallError| {
        matches!(error, CallError::TableNotFound { .. }) || is_of_class(error, "TableNotFoundException")
    };
    match admin.disable_table(context, name).await {
        Err(error) if is_gone(&error) => return Ok(()),
        // An earlier try has got so far.
        Err(error)
            if matches!(error, CallError::TableNotEnabled { .. })
                || is_of_class(&error, "TableNotEnabledException") => {}
        disabled => disabled?,
    }
    match admin.delete_table(context, name).await {
        Err(error) if is_gone(&error) => Ok(()),
        deleted => Ok(deleted?),
    }
}

fn is_of_class(error: &CallError, class: &str) -> bool {
    matches!(error, CallError::Server(server) if server.short_class() == class)
}
