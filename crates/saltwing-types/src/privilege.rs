//! What users may do to objects: the words of GRANT.

use std::fmt;

/// What a statement may do to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Privilege {
    /// Reads its rows, or its definition.
    Select,
    /// Writes rows.
    Upsert,
    /// Deletes rows.
    Delete,
    /// Makes, changes or drops it, or works on how it is stored.
    Ddl,
    /// All of these. On the database: makes users, too, and grants privileges.
    All,
}

impl Privilege {
    /// Those that are not made of others, in the order of GRANT.
    pub const EACH: [Self; 4] = [Self::Select, Self::Upsert, Self::Delete, Self::Ddl];

    /// Its word in GRANT.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Upsert => "UPSERT",
            Self::Delete => "DELETE",
            Self::Ddl => "DDL",
            Self::All => "ALL",
        }
    }

    fn bits(self) -> u8 {
        match self {
            Self::Select => 1,
            Self::Upsert => 2,
            Self::Delete => 4,
            Self::Ddl => 8,
            Self::All => 15,
        }
    }
}

/// A set of privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Privileges(u8);

impl Privileges {
    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the privilege is in the set; ALL is if each one is.
    pub fn contains(self, privilege: Privilege) -> bool {
        self.0 & privilege.bits() == privilege.bits()
    }

    /// Those of both sets.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those that the other set does not have.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Each of them; never ALL.
    pub fn each(self) -> impl Iterator<Item = Privilege> {
        Privilege::EACH.into_iter().filter(move |privilege| self.contains(*privilege))
    }
}

impl FromIterator<Privilege> for Privileges {
    fn from_iter<I: IntoIterator<Item = Privilege>>(privileges: I) -> Self {
        Self(privileges.into_iter().fold(0, |bits, privilege| bits | privilege.bits()))
    }
}

/// As in GRANT: `SELECT, UPSERT`, or `ALL`.
impl fmt::Display for Privileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.contains(Privilege::All) {
            return f.write_str(Privilege::All.as_str());
        }
        for (place, privilege) in self.each().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            f.write_str(privilege.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_each_of_them() {
        let each: Privileges = Privilege::EACH.into_iter().collect();
        let all: Privileges = [Privilege::All].into_iter().collect();
        assert_eq!((each, each.to_string().as_str()), (all, "ALL"));
        let few: Privileges = [Privilege::Delete, Privilege::Select].into_iter().collect();
        assert_eq!(few.to_string(), "SELECT, DELETE");
        assert!(few.contains(Privilege::Delete) && !few.contains(Privilege::All) && all.contains(Privilege::Ddl));
        assert_eq!((all.without(few).to_string().as_str(), few.without(all).is_empty()), ("UPSERT, DDL", true));
        assert_eq!(all.without(few).and(few), all);
    }
}
