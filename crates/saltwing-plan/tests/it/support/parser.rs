//! A small reader of conditions and definitions: enough SQL for tests of plans.

use saltwing_types::{
    ArithOp, CompareOp, Expr, Function, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, key_expression,
    typing,
};

use super::{Column, Table};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(String),
    Symbol(&'static str),
}

const SYMBOLS: [&str; 18] =
    ["<>", "<=", ">=", "!=", "||", "(", ")", ",", "=", "<", ">", "+", "-", "*", "/", "%", "?", "~"];

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let end = |keep: &dyn Fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
        if c == '\'' {
            let (mut text, mut at) = (String::new(), 1);
            loop {
                let quote = at + rest[at..].find('\'').expect("a closing quote");
                text.push_str(&rest[at..quote]);
                at = quote + 1;
                if !rest[at..].starts_with('\'') {
                    break;
                }
                text.push('\'');
                at += 1;
            }
            tokens.push(Token::Text(text));
            rest = &rest[at..];
        } else if c.is_ascii_digit() {
            let end = end(&|c| c.is_ascii_alphanumeric() || c == '.');
            tokens.push(Token::Number(rest[..end].into()));
            rest = &rest[end..];
        } else if c.is_alphabetic() || c == '_' {
            let end = end(&|c| c.is_alphanumeric() || c == '_');
            tokens.push(Token::Word(rest[..end].into()));
            rest = &rest[end..];
        } else {
            let symbol = SYMBOLS.into_iter().find(|s| rest.starts_with(s)).unwrap_or_else(|| panic!("{rest}"));
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        }
        rest = rest.trim_start();
    }
    tokens
}

pub struct Parser<'t> {
    tokens: Vec<Token>,
    at: usize,
    table: Option<&'t Table>,
    parameters: usize,
}

/// A value, or a row of them.
enum Operand {
    One(Expr),
    Row(Vec<Expr>),
}

/// A condition over a table; what the test cannot read is an error.
pub fn condition(text: &str, table: &Table) -> Result<Expr, String> {
    let mut parser = Parser::new(text, Some(table));
    let condition = parser.or()?;
    if parser.at < parser.tokens.len() {
        return Err(format!("unread: {:?}", &parser.tokens[parser.at..]));
    }
    typing::condition(condition).map_err(|e| e.to_string())
}

impl<'t> Parser<'t> {
    /// `ESCAPE 'c'`, if it is there.
    fn escape(&mut self) -> Result<Option<char>, String> {
        if !self.word("ESCAPE") {
            return Ok(None);
        }
        match one(self.operand()?)? {
            Expr::Literal(saltwing_types::Value::Text(text), _) => Ok(text.chars().next()),
            other => Err(format!("{other} is no escape character")),
        }
    }

    pub fn new(text: &str, table: Option<&'t Table>) -> Self {
        Self { tokens: tokens(text), at: 0, table, parameters: 0 }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some(Token::Symbol(s)) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), String> {
        if self.symbol(symbol) { Ok(()) } else { Err(format!("expected {symbol} at {:?}", self.tokens.get(self.at))) }
    }

    fn next(&mut self) -> Result<Token, String> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned().ok_or_else(|| "more is expected".into())
    }

    fn or(&mut self) -> Result<Expr, String> {
        let mut list = vec![self.and()?];
        while self.word("OR") {
            list.push(self.and()?);
        }
        typing::or(list).map_err(|e| e.to_string())
    }

    fn and(&mut self) -> Result<Expr, String> {
        let mut list = vec![self.not()?];
        while self.word("AND") {
            list.push(self.not()?);
        }
        typing::and(list).map_err(|e| e.to_string())
    }

    fn not(&mut self) -> Result<Expr, String> {
        if self.word("NOT") { typing::not(self.not()?).map_err(|e| e.to_string()) } else { self.test() }
    }

    fn test(&mut self) -> Result<Expr, String> {
        let left = self.operand()?;
        let negated = self.word("NOT");
        let tested = if self.word("IN") {
            self.expect("(")?;
            let rows = self.list(Self::operand)?;
            match left {
                Operand::One(e) => typing::in_list(e, rows.into_iter().map(one).collect::<Result<_, _>>()?, negated),
                Operand::Row(row) => typing::row_in_list(row, rows.into_iter().map(all).collect(), negated),
            }
        } else if self.word("BETWEEN") {
            let low = one(self.operand()?)?;
            if !self.word("AND") {
                return Err("BETWEEN without AND".into());
            }
            typing::between(one(left)?, low, one(self.operand()?)?, negated)
        } else if self.word("LIKE") {
            let (pattern, escape) = (one(self.operand()?)?, self.escape()?);
            typing::like(one(left)?, pattern, escape, false, negated)
        } else if self.word("ILIKE") {
            let (pattern, escape) = (one(self.operand()?)?, self.escape()?);
            typing::like(one(left)?, pattern, escape, true, negated)
        } else if self.symbol("~") {
            typing::regexp(one(left)?, one(self.operand()?)?, false, negated)
        } else if self.word("IS") {
            let negated = self.word("NOT");
            let e = one(left)?;
            if self.word("DISTINCT") {
                self.word("FROM");
                let op = if negated { CompareOp::NotDistinct } else { CompareOp::Distinct };
                typing::compare(op, e, one(self.operand()?)?)
            } else {
                let test = match self.next()? {
                    Token::Word(w) if w.eq_ignore_ascii_case("NULL") => Ok(typing::is_null(e)),
                    Token::Word(w) if w.eq_ignore_ascii_case("TRUE") => typing::is_truth(e, Some(true)),
                    Token::Word(w) if w.eq_ignore_ascii_case("FALSE") => typing::is_truth(e, Some(false)),
                    _ => typing::is_truth(e, None),
                };
                if negated { test.and_then(typing::not) } else { test }
            }
        } else {
            let ops = [
                ("=", CompareOp::Eq),
                ("<>", CompareOp::NotEq),
                ("!=", CompareOp::NotEq),
                ("<=", CompareOp::LtEq),
                (">=", CompareOp::GtEq),
                ("<", CompareOp::Lt),
                (">", CompareOp::Gt),
            ];
            match ops.into_iter().find(|(symbol, _)| self.symbol(symbol)) {
                None => return one(left),
                Some((_, op)) => match (left, self.operand()?) {
                    (Operand::One(a), Operand::One(b)) => typing::compare(op, a, b),
                    (a, b) => typing::row_compare(op, all(a), all(b)),
                },
            }
        };
        tested.map_err(|e| e.to_string())
    }

    fn list<I>(&mut self, item: impl Fn(&mut Self) -> Result<I, String>) -> Result<Vec<I>, String> {
        let mut list = vec![item(self)?];
        while self.symbol(",") {
            list.push(item(self)?);
        }
        self.expect(")")?;
        Ok(list)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let mut left = self.factor()?;
        let ops =
            [("+", ArithOp::Add), ("-", ArithOp::Sub), ("*", ArithOp::Mul), ("/", ArithOp::Div), ("%", ArithOp::Rem)];
        loop {
            if self.symbol("||") {
                let args = vec![one(left)?, one(self.factor()?)?];
                left = Operand::One(typing::call(Function::CONCAT, args).map_err(|e| e.to_string())?);
            } else if let Some((_, op)) = ops.into_iter().find(|(symbol, _)| self.symbol(symbol)) {
                let right = one(self.factor()?)?;
                left = Operand::One(typing::arith(op, one(left)?, right).map_err(|e| e.to_string())?);
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(&mut self) -> Result<Operand, String> {
        if self.symbol("(") {
            let start = self.at;
            // A row, or a condition in parentheses.
            if let Ok(mut row) = self.list(|p| p.operand().and_then(one)) {
                return Ok(if row.len() == 1 { Operand::One(row.remove(0)) } else { Operand::Row(row) });
            }
            self.at = start;
            let condition = self.or()?;
            self.expect(")")?;
            return Ok(Operand::One(condition));
        }
        if self.symbol("-") {
            return typing::negate(one(self.factor()?)?).map(Operand::One).map_err(|e| e.to_string());
        }
        if self.symbol("?") {
            self.parameters += 1;
            return Ok(Operand::One(Expr::Param(self.parameters - 1, None)));
        }
        let e = match self.next()? {
            Token::Text(text) => Ok(typing::string(text)),
            Token::Number(text) => typing::number(&text),
            Token::Word(word) => return self.named(&word).map(Operand::One),
            Token::Symbol(symbol) => return Err(format!("unexpected {symbol}")),
        };
        e.map(Operand::One).map_err(|e| e.to_string())
    }

    fn named(&mut self, word: &str) -> Result<Expr, String> {
        let upper = word.to_ascii_uppercase();
        match upper.as_str() {
            "NULL" => return Ok(Expr::NULL),
            "TRUE" | "FALSE" => return Ok(Expr::boolean(upper == "TRUE")),
            "CAST" => {
                self.expect("(")?;
                let e = one(self.operand()?)?;
                self.word("AS");
                let ty = self.sql_type()?;
                self.expect(")")?;
                return typing::cast(e, ty).map_err(|e| e.to_string());
            }
            _ => {}
        }
        let typed = match upper.as_str() {
            "X" => Some(T::Varbinary),
            "DATE" => Some(T::Date),
            "TIMESTAMP" => Some(T::Timestamp),
            _ => None,
        };
        if let (Some(ty), Some(Token::Text(text))) = (typed, self.tokens.get(self.at).cloned()) {
            self.at += 1;
            return saltwing_types::text::parse(&text, ty).map(|v| Expr::Literal(v, ty)).map_err(|e| e.to_string());
        }
        if self.symbol("(") {
            let args = self.list(|p| p.operand().and_then(one))?;
            let function = Function::by_name(word).ok_or_else(|| format!("no function {word}"))?;
            return typing::call(function, args).map_err(|e| e.to_string());
        }
        let table = self.table.ok_or("no table")?;
        table.column_index(word).map(|index| table.column(index)).ok_or_else(|| format!("no column {word}"))
    }

    fn sql_type(&mut self) -> Result<T, String> {
        let Token::Word(word) = self.next()? else { return Err("a type is expected".into()) };
        let mut sizes = Vec::new();
        if self.symbol("(") {
            sizes = self.list(|p| match p.next()? {
                Token::Number(n) => n.parse::<u32>().map_err(|e| e.to_string()),
                other => Err(format!("{other:?}")),
            })?;
        }
        let size = sizes.first().copied();
        Ok(match word.to_ascii_uppercase().as_str() {
            "TINYINT" => T::TinyInt,
            "SMALLINT" => T::SmallInt,
            "INTEGER" | "INT" => T::Integer,
            "BIGINT" => T::BigInt,
            "UNSIGNED_INT" => T::UnsignedInt,
            "UNSIGNED_LONG" => T::UnsignedLong,
            "FLOAT" => T::Float,
            "DOUBLE" => T::Double,
            "DECIMAL" => T::Decimal(size.map(|p| (p as u8, sizes.get(1).map_or(0, |s| *s as u8)))),
            "BOOLEAN" => T::Boolean,
            "DATE" => T::Date,
            "TIMESTAMP" => T::Timestamp,
            "CHAR" => T::Char(size.unwrap_or(1)),
            "VARCHAR" => T::Varchar(size),
            "BINARY" => T::Binary(size.unwrap_or(1)),
            "VARBINARY" => T::Varbinary,
            other => return Err(format!("no type {other}")),
        })
    }

    /// `(name type [NOT NULL] [DESC], ..)`; also which of them descend, and the key of a
    /// constraint in it.
    #[allow(clippy::type_complexity)]
    fn columns(&mut self) -> Result<(Vec<(Column, bool)>, Option<Vec<(String, bool)>>), String> {
        self.expect("(")?;
        let mut columns = Vec::new();
        loop {
            let Token::Word(name) = self.next()? else { return Err("a column is expected".into()) };
            let ty = self.sql_type()?;
            let not_null = self.word("NOT") && self.word("NULL");
            let desc = self.word("DESC");
            let nullable = !not_null && ty.fixed_key_bytes().is_none();
            columns.push((Column { name, ty, nullable }, desc));
            if self.word("CONSTRAINT") {
                self.at += 3;
                self.expect("(")?;
                let key = self.list(|p| match p.next()? {
                    Token::Word(name) => Ok((name, p.word("DESC"))),
                    other => Err(format!("{other:?}")),
                })?;
                self.expect(")")?;
                return Ok((columns, Some(key)));
            }
            if !self.symbol(",") {
                self.expect(")")?;
                return Ok((columns, None));
            }
        }
    }

    fn number_after(&mut self, word: &str) -> Option<usize> {
        (self.word(word) && self.symbol("=")).then_some(())?;
        if let Ok(Token::Number(n)) = self.next() { n.parse().ok() } else { None }
    }
}

fn one(operand: Operand) -> Result<Expr, String> {
    if let Operand::One(e) = operand { Ok(e) } else { Err("a row in the place of a value".into()) }
}

fn all(operand: Operand) -> Vec<Expr> {
    match operand {
        Operand::One(e) => vec![e],
        Operand::Row(row) => row,
    }
}

/// `CREATE TABLE t (a VARCHAR, .. CONSTRAINT pk PRIMARY KEY (a DESC, ..)) SALT_BUCKETS=4`.
pub fn create_table(text: &str) -> Result<Table, String> {
    let mut parser = Parser::new(text, None);
    parser.at = 2;
    let Token::Word(name) = parser.next()? else { return Err("a name is expected".into()) };
    let (columns, key) = parser.columns()?;
    let columns: Vec<Column> = columns.into_iter().map(|(column, _)| column).collect();
    let index = |name: &str| columns.iter().position(|c| c.name.eq_ignore_ascii_case(name)).ok_or("no such column");
    let keys = key.ok_or("no key")?;
    let keys: Vec<(usize, bool)> =
        keys.iter().map(|(name, desc)| Ok((index(name)?, *desc))).collect::<Result<_, &str>>()?;
    let buckets = parser.number_after("SALT_BUCKETS").map(|n| Salt { buckets: n as u16, by: None });
    Ok(table(&name, columns, &keys, buckets))
}

/// `ranges key=(a varchar not null, b int desc) values=(v double) buckets=4 by=1`.
///
/// Computed parts may follow, each with its place: `parts=(0 MD5(a), 2 b % 3 desc)`.
pub fn ranges(text: &str) -> Result<Table, String> {
    let (text, parts) = text.split_once(" parts=").map_or((text, None), |(text, parts)| (text, Some(parts)));
    let table = plain_ranges(text)?;
    match parts {
        Some(parts) => with_parts(table, parts),
        None => Ok(table),
    }
}

fn with_parts(table: Table, text: &str) -> Result<Table, String> {
    let mut parser = Parser::new(text, Some(&table));
    parser.expect("(")?;
    let parts = parser.list(|p| match p.next()? {
        Token::Number(place) => {
            let expr = one(p.operand()?)?;
            Ok((place.parse::<usize>().map_err(|e| e.to_string())?, expr, p.word("DESC")))
        }
        other => Err(format!("{other:?}")),
    })?;
    let Table { name, columns, mut schema, .. } = table.clone();
    for (place, expr, desc) in parts {
        let ty = key_expression::key_type(&expr).map_err(|e| e.to_string())?;
        let inputs = expr.columns();
        let nullable = key_expression::may_be_null(ty) && inputs.iter().any(|input| columns[*input].nullable);
        let order = if desc { SortOrder::Desc } else { SortOrder::Asc };
        let name = expr.to_string();
        schema.columns.insert(place, KeyColumn { source: KeySource::Computed(expr), name, ty, order, nullable });
    }
    Ok(Table::new(&name, columns, schema))
}

fn plain_ranges(text: &str) -> Result<Table, String> {
    let mut parser = Parser::new(text, None);
    if !(parser.word("ranges") && parser.word("key") && parser.symbol("=")) {
        return Err("expected: ranges key=(..)".into());
    }
    let (mut columns, _) = parser.columns()?;
    let keys: Vec<(usize, bool)> = columns.iter().enumerate().map(|(i, (_, desc))| (i, *desc)).collect();
    if parser.word("values") {
        parser.expect("=")?;
        let (values, _) = parser.columns()?;
        columns.extend(values.into_iter().map(|(column, desc)| (Column { nullable: true, ..column }, desc)));
    }
    let buckets = parser.number_after("buckets");
    let by = parser.number_after("by");
    let salt = buckets.map(|n| Salt { buckets: n as u16, by });
    Ok(table("t", columns.into_iter().map(|(column, _)| column).collect(), &keys, salt))
}

fn table(name: &str, columns: Vec<Column>, keys: &[(usize, bool)], salt: Option<Salt>) -> Table {
    let alone = keys.len() == 1;
    let key = |(column, desc): &(usize, bool)| {
        let Column { name, ty, nullable } = columns[*column].clone();
        let order = if *desc { SortOrder::Desc } else { SortOrder::Asc };
        KeyColumn { source: KeySource::Column(*column), name, ty, order, nullable: nullable && !alone }
    };
    let schema = KeySchema { columns: keys.iter().map(key).collect(), salt };
    Table::new(name, columns, schema)
}
