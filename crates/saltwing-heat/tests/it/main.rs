//! Laws of the recorder and of the picture.

#![allow(clippy::unwrap_used, clippy::panic)]

use workspace_hack as _;

mod loads;
mod memory;
mod picture;
mod slots;
mod world;
