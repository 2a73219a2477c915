//! Plans whose texts could be taken for something else.

use plan_runtime::{Result, plan, tool};

/// Returns its argument.
#[tool]
pub async fn echo(r#type: String) -> Result<String> {
    Ok(r#type)
}

plan! {
    /// Its intents are Markdown and HTML, which are shown and not read.
    pub Hostile(
        /// `a|b` | *soft* <https://example.org/a_b> <b>bold</b> [`echo`] &lt;
        r#type: String,
        /// ```
        /// assert!(true);
        /// ```
        bits: [u8; 1 | 2],
    ) -> String {
        /// </svg></div></title> <b>bold</b> **bold** || two | pipes `code` [nowhere](nothing) [`nothing`] <img src=x onerror="alert(1)">
        step r#match = Echo { r#type };
        ///     panic!("an indented block is not an example")
        ///
        /// # A heading
        ///
        /// ```
        /// panic!("nor is this")
        /// ```
        step second = Echo { r#type: r#match };
        /// https://example.org/a_b_c <https://example.org> www.example.org &lt; &#35; \| \\| $x$ ~~gone~~ _soft_ --- ... "quoted"
        #[fallback("a|b`c</svg>")]
        step third = if "`|</title>".len() > bits.len() || second == "||" { Echo { r#type: second } } else { Echo { r#type: "x" } };
        /// 名前が長い段階の意図 – عربى \u{202e} é
        step very_long_name_of_a_step_that_is_cut_off_in_its_box_and_not_in_the_table = Echo { r#type: third };
        very_long_name_of_a_step_that_is_cut_off_in_its_box_and_not_in_the_table
    }
}
