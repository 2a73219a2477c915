mod deserialize;
pub(in crate::dynamic) mod read;
