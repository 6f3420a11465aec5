//! The arguments of `hbase-speed`.

/// The `hbase-speed` command: Saltwing beside Phoenix's JDBC driver on the tables of one cluster.
#[derive(clap::Args)]
pub struct Args {
    /// The servers of ZooKeeper: HOST:PORT,..
    #[arg(long, value_name = "HOST:PORT")]
    pub cluster: String,
    /// The class path with Phoenix's driver, such as LIB/*, and a folder with hbase-site.xml if need be.
    #[arg(long, value_name = "PATHS")]
    pub classpath: String,
    /// Options of Java, separated by blanks.
    #[arg(long, value_name = "OPTIONS", default_value = "-Xmx1g", allow_hyphen_values = true)]
    pub java_options: String,
    /// Rows of the log.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    pub rows: u64,
    /// Only these works.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Leaves the tables of an earlier run as they are, and loads nothing.
    #[arg(long)]
    pub keep: bool,
    /// Questions of a work are this share of the usual number, in per cent.
    #[arg(long, default_value_t = 100)]
    pub effort: usize,
}
