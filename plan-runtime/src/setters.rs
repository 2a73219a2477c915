//! Setters of structs that may get more fields.

/// A method for each of these fields, which sets it and gives the struct back. `=> Some` makes an `Option` of the method's argument.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty $(=> $wrap:ident)?;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $field(mut self, $field: $type) -> Self {
            self.$field = $($wrap)?($field);
            self
        }
    )*};
}
