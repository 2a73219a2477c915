//! Tests of misspelled names in attributes that name steps.

use plan_graph::{StepAttribute, Takes};
use proc_macro2::TokenStream;
use std::str::FromStr;

/// Each attribute that names steps suggests the step that a misspelled name means.
#[test]
fn attributes_suggest_the_steps_they_mean() {
    let all = StepAttribute::ALL.iter().copied();
    let naming: Vec<StepAttribute> = all.filter(|it| it.takes() == Takes::Names).collect();
    assert!(naming.len() >= 2, "{naming:?}");
    for attribute in naming {
        for wrong in ["payed", "piad", "pay", "paied"] {
            let name = attribute.name();
            let plan = format!(
                "Refund() -> String {{
                    step note = CreateNote {{ cents: 1 }};
                    step paid = PayBack {{ note }};
                    #[{name}({wrong})]
                    step told = SendMail {{ text: \"refunded\" }};
                    note
                }}"
            );
            let tokens = TokenStream::from_str(&plan).expect("tokens");
            let expansion = crate::plan::plan(tokens).to_string();
            let help = format!(
                "no step is named `{wrong}`\\nhelp: a step with a similar name exists: `paid`"
            );
            assert!(expansion.contains(&help), "{name}({wrong})");
        }
    }
}
