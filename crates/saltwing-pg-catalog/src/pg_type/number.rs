//! Types of PostgreSQL by their numbers.

/// The number (OID) of a type of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PgType(pub(crate) u32);

impl PgType {
    pub(crate) const BOOL: Self = Self(16);
    pub(crate) const CHAR: Self = Self(18);
    pub(crate) const NAME: Self = Self(19);
    pub(crate) const INT8: Self = Self(20);
    pub(crate) const INT2: Self = Self(21);
    pub(crate) const INT2VECTOR: Self = Self(22);
    pub(crate) const INT4: Self = Self(23);
    pub(crate) const TEXT: Self = Self(25);
    pub(crate) const OID: Self = Self(26);
    pub(crate) const XID: Self = Self(28);
    pub(crate) const OIDVECTOR: Self = Self(30);
    pub(crate) const JSON: Self = Self(114);
    pub(crate) const FLOAT8: Self = Self(701);
    pub(crate) const UNKNOWN: Self = Self(705);
    pub(crate) const TEXT_ARRAY: Self = Self(1009);
    pub(crate) const BPCHAR: Self = Self(1042);
    pub(crate) const VARCHAR: Self = Self(1043);
    pub(crate) const TIME: Self = Self(1083);
    pub(crate) const TIMESTAMP: Self = Self(1114);
    pub(crate) const NUMERIC: Self = Self(1700);
    pub(crate) const REGCLASS: Self = Self(2205);
    pub(crate) const REGTYPE: Self = Self(2206);
    pub(crate) const JSONB: Self = Self(3802);
    pub(crate) const REGROLE: Self = Self(4096);
    pub(crate) const REGNAMESPACE: Self = Self(4089);
    pub(crate) const VOID: Self = Self(2278);
}
