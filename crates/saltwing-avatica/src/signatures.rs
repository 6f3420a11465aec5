//! The columns and parameters of statements.

use saltwing::{ColumnOrigin, Description, ResultColumn, SqlType};

use crate::jdbc_type::{JdbcType, bits};
use crate::messages::{AvaticaParameter, AvaticaType, ColumnMetaData, CursorFactory, Signature, StatementType, Style};

/// The signature of a statement whose rows have these columns. `description` tells its parameters, and the tables of its columns.
pub(crate) fn signature(sql: &str, description: &Description, columns: &[ResultColumn]) -> Signature {
    let origin = |index: usize| description.origins.get(index).and_then(Option::as_ref);
    Signature {
        columns: columns.iter().enumerate().map(|(index, it)| column(index, it, origin(index))).collect(),
        sql: sql.to_owned(),
        parameters: description.parameters.iter().enumerate().map(|(index, ty)| parameter(index, *ty)).collect(),
        cursor_factory: Some(CursorFactory { style: Style::List.into(), ..CursorFactory::default() }),
        statement_type: statement_type(description.tag).into(),
    }
}

/// The signature of rows that no statement gives: of metadata.
pub(crate) fn of_columns(columns: &[ResultColumn]) -> Signature {
    signature("", &Description::default(), columns)
}

fn column(index: usize, column: &ResultColumn, origin: Option<&ColumnOrigin>) -> ColumnMetaData {
    let ty = JdbcType::of(column.ty);
    let table = origin.map(|origin| &origin.table);
    ColumnMetaData {
        ordinal: u32::try_from(index).unwrap_or(u32::MAX),
        auto_increment: false,
        case_sensitive: matches!(ty.id, 1 | 12),
        searchable: true,
        currency: false,
        nullable: column.nullable.into(),
        signed: ty.signed,
        display_size: ty.display_size,
        // Both have the label: the Go driver reads the second one alone, and the others the first one.
        label: column.label.clone(),
        column_name: column.label.clone(),
        schema_name: table.and_then(|table| table.schema.clone()).unwrap_or_default(),
        precision: ty.precision,
        scale: ty.scale,
        table_name: table.map(|table| table.name.clone()).unwrap_or_default(),
        catalog_name: String::new(),
        read_only: true,
        writable: false,
        definitely_writable: false,
        column_class_name: ty.class_name.to_owned(),
        r#type: Some(avatica_type(&ty, column.ty)),
    }
}

fn avatica_type(jdbc: &JdbcType, ty: SqlType) -> AvaticaType {
    AvaticaType {
        id: bits(jdbc.id),
        name: jdbc.name.clone().into_owned(),
        rep: jdbc.column_rep.into(),
        columns: Vec::new(),
        component: ty.element().map(|element| {
            let jdbc = JdbcType::of(element);
            // Elements are objects in Java, unlike the values of columns.
            Box::new(AvaticaType { rep: jdbc.rep.into(), ..avatica_type(&jdbc, element) })
        }),
    }
}

/// A parameter; one of an unknown type is VARCHAR, so that the Python driver, which has no values for Phoenix's unknown type, sends text.
fn parameter(index: usize, ty: Option<SqlType>) -> AvaticaParameter {
    let ty = JdbcType::of(ty.unwrap_or(SqlType::Varchar(None)));
    AvaticaParameter {
        signed: ty.signed,
        precision: ty.precision,
        scale: ty.scale,
        parameter_type: bits(ty.parameter_id()),
        type_name: ty.name.clone().into_owned(),
        class_name: ty.class_name.to_owned(),
        name: format!("?{}", index.saturating_add(1)),
    }
}

/// What a statement with this tag does.
fn statement_type(tag: &str) -> StatementType {
    match tag {
        "INSERT" => StatementType::Insert,
        "UPDATE" => StatementType::Update,
        "DELETE" => StatementType::Delete,
        "UPSERT" => StatementType::Upsert,
        "MERGE" => StatementType::Merge,
        "COPY" => StatementType::OtherDml,
        _ if tag.starts_with("CREATE") => StatementType::Create,
        _ if tag.starts_with("DROP") => StatementType::Drop,
        _ if tag.starts_with("ALTER") => StatementType::Alter,
        "" | "SELECT" | "SHOW" | "DESCRIBE" | "EXPLAIN" | "EXPORT" => StatementType::Select,
        _ => StatementType::OtherDdl,
    }
}

#[cfg(test)]
mod tests {
    use saltwing::{ResultColumn, SqlType};

    use super::{of_columns, parameter, statement_type};
    use crate::messages::{Rep, StatementType};

    #[test]
    fn an_array_has_the_type_of_its_elements_as_component() {
        let array = SqlType::array(SqlType::Integer).unwrap();
        let signature = of_columns(&[ResultColumn { label: "A".to_owned(), ty: array, nullable: true }]);
        let ty = signature.columns[0].r#type.clone().unwrap();
        assert_eq!((ty.id, ty.name.as_str(), ty.rep), (2003, "INTEGER ARRAY", Rep::Array.into()));
        let component = ty.component.unwrap();
        assert_eq!((component.id, component.name.as_str(), component.rep), (4, "INTEGER", Rep::Integer.into()));
    }

    #[test]
    fn a_parameter_of_an_unknown_type_takes_text() {
        let parameter = parameter(0, None);
        assert_eq!(
            (parameter.parameter_type, parameter.type_name.as_str(), parameter.name.as_str()),
            (12, "VARCHAR", "?1")
        );
    }

    #[test]
    fn tags_tell_what_statements_do() {
        for (tag, ty) in [
            ("SELECT", StatementType::Select),
            ("UPSERT", StatementType::Upsert),
            ("CREATE TABLE AS", StatementType::Create),
            ("DROP INDEX", StatementType::Drop),
            ("TRUNCATE TABLE", StatementType::OtherDdl),
        ] {
            assert_eq!(statement_type(tag), ty, "{tag}");
        }
    }
}
