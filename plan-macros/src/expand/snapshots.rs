//! What plans become, for readers: all that a small plan expands to, and then what steps with other values do.
//!
//! `UPDATE_EXPECT=1 cargo test -p plan-macros` writes the snapshots anew.

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, File, Item, Stmt};

fn check(plan: TokenStream, expected: &Expect) {
    let file: File = syn::parse2(super::plan(plan)).expect("an expansion is Rust");
    expected.assert_eq(&prettyplease::unparse(&file));
}

/// Shows only the constants of the steps.
fn check_steps(plan: TokenStream, expected: &Expect) {
    let mut file: File = syn::parse2(super::plan(plan)).expect("an expansion is Rust");
    let mut steps = Vec::new();
    for item in std::mem::take(&mut file.items) {
        if let Item::Const(scope) = item
            && let Some(inside) = inside(&scope)
        {
            steps.extend(inside);
        }
    }
    file.items = steps;
    expected.assert_eq(&prettyplease::unparse(&file));
}

fn inside(scope: &syn::ItemConst) -> Option<Vec<Item>> {
    let Expr::Block(block) = &*scope.expr else {
        return None;
    };
    let steps = block.block.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Item(item @ Item::Const(step)) if step.ident.to_string().starts_with("__step_") => {
            Some(item.clone())
        }
        _ => None,
    });
    Some(steps.collect())
}

#[test]
fn a_reference() {
    let plan = quote! {
        /// Finds the latest thread.
        pub LatestThread(sender: String) -> String {
            /// Look into the inbox.
            step inbox = FetchEmails { sender };
            inbox.data[0].thread_id
        }
    };
    check(
        plan,
        &expect![[r#"
            /// Finds the latest thread.
            #[derive(
                ::plan_runtime::__private::serde::Serialize,
                ::plan_runtime::__private::serde::Deserialize,
                ::plan_runtime::Shape
            )]
            #[serde(crate = "::plan_runtime::__private::serde")]
            #[shape(crate = ::plan_runtime)]
            #[cfg_attr(
                doc,
                doc = "\n\n**Inputs**\n\n| Input | Type |\n| --- | --- |\n| `sender` | `String` |\n\n**Steps**\n\n| Step | Does | Intent | Needs |\n| --- | --- | --- | --- |\n| `inbox` | `FetchEmails` | Look into the inbox. | `sender` |\n\n| Output | Type |\n| --- | --- |\n| `inbox.data[0].thread_id` | `String` |\n\n"
            )]
            pub struct LatestThread {
                #[allow(missing_docs)]
                pub sender: String,
            }
            #[allow(
                clippy::all,
                clippy::pedantic,
                clippy::nursery,
                dead_code,
                non_camel_case_types,
                non_upper_case_globals,
                unused_qualifications
            )]
            const _: () = {
                #[allow(unused_imports)]
                use ::plan_runtime::__private::{
                    self as __plan, It as _, ItUntyped as _, Kind as _, OwnItself as _,
                    OwnUnsized as _,
                };
                type __PlanInput0 = String;
                type __PlanStep0 = <FetchEmails as __plan::IsTool>::Output;
                type __PlanTool0_0 = <FetchEmails as __plan::IsTool>::Itself;
                type __PlanArguments0_0 = FetchEmails;
                const __step_inbox: __plan::Step = {
                    let sender = __plan::root::<__PlanInput0>();
                    let __n0 = __plan::arguments::<__PlanTool0_0>();
                    let _ = || __PlanArguments0_0 {
                        sender: __plan::Fits::fit(__plan::NotAbsent::present(sender.it())),
                    };
                    __plan::Step {
                        id: __plan::Cow::Borrowed("inbox"),
                        intent: __plan::Cow::Borrowed("Look into the inbox."),
                        body: __plan::Body::Action(__plan::Action {
                            site: 0usize,
                            tool: <__PlanTool0_0 as __plan::Called>::TOOL,
                            args: __plan::Template::Object(
                                __plan::Cow::Borrowed(
                                    &[
                                        __plan::Entry {
                                            key: __n0.key("FetchEmails", "sender"),
                                            value: __plan::Template::Reference(__plan::Reference {
                                                source: __plan::Source::Input(0usize),
                                                path: __plan::Cow::Borrowed(&[]),
                                                written: __plan::Cow::Borrowed("sender"),
                                            }),
                                        },
                                    ],
                                ),
                            ),
                        }),
                        after: __plan::NO_STEPS,
                        needs: __plan::NO_STEPS,
                        policy: __plan::NO_POLICY,
                    }
                };
                const __PLAN_OUTPUT: __plan::Template = {
                    let inbox = __plan::root::<__PlanStep0>();
                    let __t0 = <_ as __plan::Shaped>::KNOWN;
                    let _ = || -> String {
                        __plan::Fits::fit(
                            __plan::NotAbsent::present(
                                __plan::here(
                                        &(*{
                                            let __c = __plan::here(
                                                &(*{
                                                    let __c = __plan::here(
                                                        &(*__plan::Present::look(inbox.kind())).data,
                                                    );
                                                    __plan::Present::look(__c.kind())
                                                })[0],
                                            );
                                            __plan::Present::see(__c.kind(), __t0)
                                        })
                                            .thread_id,
                                    )
                                    .it(),
                            ),
                        )
                    };
                    __plan::Template::Reference(__plan::Reference {
                        source: __plan::Source::Step(0usize),
                        path: __plan::Cow::Borrowed(
                            &[
                                <__PlanStep0 as __plan::Shaped>::KNOWN.key("data", false),
                                __plan::Segment::Index(0usize, __plan::Absent::Error),
                                __t0.key("thread_id", true),
                            ],
                        ),
                        written: __plan::Cow::Borrowed("inbox.data[0].thread_id"),
                    })
                };
                static __PLAN: __plan::Plan = __plan::Plan {
                    name: __plan::Cow::Borrowed("latest_thread"),
                    description: __plan::Cow::Borrowed("Finds the latest thread."),
                    inputs: __plan::Cow::Borrowed(
                        &[
                            __plan::Input {
                                name: __plan::Cow::Borrowed("sender"),
                                type_name: __plan::Cow::Borrowed("String"),
                                description: __plan::Cow::Borrowed(""),
                            },
                        ],
                    ),
                    steps: __plan::Cow::Borrowed(&[__step_inbox]),
                    output: __plan::Output {
                        type_name: __plan::Cow::Borrowed("String"),
                        value: __PLAN_OUTPUT,
                    },
                };
                #[doc(hidden)]
                impl<__App> __plan::Steps<__App> for LatestThread
                where
                    __App: ?::core::marker::Sized + ::core::marker::Sync,
                    __App: __plan::Calls<__PlanArguments0_0>,
                {
                    fn start<'__app>(
                        __step: ::core::primitive::usize,
                        __request: __plan::Request<'_>,
                        __app: &'__app __App,
                    ) -> __plan::Started<'__app> {
                        match __step {
                            0usize => {
                                <__App as __plan::Calls<
                                    __PlanArguments0_0,
                                >>::start(__app, __request, false)
                            }
                            _ => __request.unknown(),
                        }
                    }
                }
                impl<__App> __plan::Call<__App> for LatestThread
                where
                    __App: ?::core::marker::Sized + ::core::marker::Sync,
                    __App: __plan::Calls<__PlanArguments0_0>,
                {
                    fn call(
                        self,
                        __app: &__App,
                    ) -> impl ::core::future::Future<
                        Output = __plan::Result<String>,
                    > + ::core::marker::Send {
                        __plan::called(self.run(__app))
                    }
                }
                impl LatestThread {
                    ///The plan of [`LatestThread`] as data.
                    #[allow(dead_code)]
                    pub const PLAN: &'static __plan::Plan = &__PLAN;
                    ///Runs [`LatestThread`] on an application that has its tools.
                    #[allow(dead_code)]
                    pub fn run<__App>(self, __app: &__App) -> __plan::Run<'_, __App, String>
                    where
                        __App: ?::core::marker::Sized + ::core::marker::Sync,
                        __App: __plan::Calls<__PlanArguments0_0>,
                    {
                        let __inputs = (|| ::core::result::Result::Ok(
                            ::std::vec![__plan::input("sender", & self.sender) ?],
                        ))();
                        __plan::Run::new(
                            &__PLAN,
                            __inputs,
                            __app,
                            <Self as __plan::Steps<__App>>::start,
                        )
                    }
                }
                impl __plan::Tool for LatestThread {
                    type Output = String;
                    const NAME: &'static ::core::primitive::str = "latest_thread";
                    const DESCRIPTION: &'static ::core::primitive::str = "Finds the latest thread.";
                }
            };
        "#]],
    );
}

#[test]
fn a_computed_value_and_a_text() {
    let plan = quote! {
        Remind(name: String, days: u64) -> Receipt {
            step late: bool = days > 3;
            step sent = Send {
                subject: format!("Dear {name}: {:>4}", days + 1),
                urgent: late,
            };
            sent
        }
    };
    check_steps(
        plan,
        &expect![[r#"
            const __step_late: __plan::Step = {
                let __k0 = __plan::slot();
                let _ = || -> bool { __k0.value() };
                __plan::Step {
                    id: __plan::Cow::Borrowed("late"),
                    intent: __plan::NO_TEXT,
                    body: __plan::Body::Action(__plan::Action {
                        site: 0usize,
                        tool: ::core::option::Option::None,
                        args: __plan::Template::Computed(__plan::Computed {
                            reads: __plan::Cow::Borrowed(&[__plan::Source::Input(1usize)]),
                            written: __plan::Cow::Borrowed(::core::stringify!(days > 3)),
                            compute: ::core::option::Option::Some(
                                &__k0
                                    .with(
                                        |__scope0| {
                                            __scope0
                                                .value_of::<__PlanInput1>(__plan::Source::Input(1usize))?;
                                            ::core::result::Result::Ok(())
                                        },
                                        |__scope0| {
                                            #[allow(unused_variables)]
                                            let days: &__PlanInput1 = __scope0
                                                .known::<__PlanInput1>(__plan::Source::Input(1usize));
                                            (*days) > 3
                                        },
                                    ),
                            ),
                        }),
                    }),
                    after: __plan::NO_STEPS,
                    needs: __plan::NO_STEPS,
                    policy: __plan::NO_POLICY,
                }
            };
            const __step_sent: __plan::Step = {
                let late = __plan::root::<__PlanStep0>();
                let name = __plan::root::<__PlanInput0>();
                let __n0 = __plan::arguments::<__PlanTool1_0>();
                let __s1 = __plan::shown(&|| __plan::Shown::shown(name.it()));
                let __k2 = __plan::slot();
                let _ = || __PlanArguments1_0 {
                    subject: __plan::FromText::formatted(),
                    urgent: __plan::Fits::fit(__plan::NotAbsent::present(late.it())),
                };
                __plan::Step {
                    id: __plan::Cow::Borrowed("sent"),
                    intent: __plan::NO_TEXT,
                    body: __plan::Body::Action(__plan::Action {
                        site: 1usize,
                        tool: <__PlanTool1_0 as __plan::Called>::TOOL,
                        args: __plan::Template::Object(
                            __plan::Cow::Borrowed(
                                &[
                                    __plan::Entry {
                                        key: __n0.key("Send", "subject"),
                                        value: __plan::Template::Text(
                                            __plan::Cow::Borrowed(
                                                &[
                                                    __plan::Part::Literal(__plan::Cow::Borrowed("Dear ")),
                                                    __plan::Part::Value {
                                                        value: __plan::Template::Reference(__plan::Reference {
                                                            source: __plan::Source::Input(0usize),
                                                            path: __plan::Cow::Borrowed(&[]),
                                                            written: __plan::Cow::Borrowed("name"),
                                                        }),
                                                        spec: __plan::Cow::Borrowed(""),
                                                        show: ::core::option::Option::Some(
                                                            &__plan::show(
                                                                __s1,
                                                                |__value| __plan::format!("{}", * __value.show()),
                                                            ),
                                                        ),
                                                    },
                                                    __plan::Part::Literal(__plan::Cow::Borrowed(": ")),
                                                    __plan::Part::Value {
                                                        value: __plan::Template::Computed(__plan::Computed {
                                                            reads: __plan::Cow::Borrowed(
                                                                &[__plan::Source::Input(1usize)],
                                                            ),
                                                            written: __plan::Cow::Borrowed(
                                                                ::core::stringify!(days + 1),
                                                            ),
                                                            compute: ::core::option::Option::Some(
                                                                &__k2
                                                                    .with(
                                                                        |__scope0| {
                                                                            __scope0
                                                                                .value_of::<__PlanInput1>(__plan::Source::Input(1usize))?;
                                                                            ::core::result::Result::Ok(())
                                                                        },
                                                                        |__scope0| {
                                                                            #[allow(unused_variables)]
                                                                            let days: &__PlanInput1 = __scope0
                                                                                .known::<__PlanInput1>(__plan::Source::Input(1usize));
                                                                            __plan::format!("{:>4}", (* days) + 1)
                                                                        },
                                                                    ),
                                                            ),
                                                        }),
                                                        spec: __plan::Cow::Borrowed(">4"),
                                                        show: ::core::option::Option::Some(&__plan::Formatted),
                                                    },
                                                ],
                                            ),
                                        ),
                                    },
                                    __plan::Entry {
                                        key: __n0.key("Send", "urgent"),
                                        value: __plan::Template::Reference(__plan::Reference {
                                            source: __plan::Source::Step(0usize),
                                            path: __plan::Cow::Borrowed(&[]),
                                            written: __plan::Cow::Borrowed("late"),
                                        }),
                                    },
                                ],
                            ),
                        ),
                    }),
                    after: __plan::NO_STEPS,
                    needs: __plan::Cow::Borrowed(&[0usize]),
                    policy: __plan::NO_POLICY,
                }
            };
        "#]],
    );
}

#[test]
fn a_nested_literal_and_an_order() {
    let plan = quote! {
        Archive(id: u64) {
            step first = Open { id };
            #[after(first)]
            step second = Store { place: Place::Shelf { row: 3, label: Some(first.label) }, .. };
        }
    };
    check_steps(
        plan,
        &expect![[r#"
            const __step_first: __plan::Step = {
                let id = __plan::root::<__PlanInput0>();
                let __n0 = __plan::arguments::<__PlanTool0_0>();
                let _ = || __PlanArguments0_0 {
                    id: __plan::Fits::fit(__plan::NotAbsent::present(id.it())),
                };
                __plan::Step {
                    id: __plan::Cow::Borrowed("first"),
                    intent: __plan::NO_TEXT,
                    body: __plan::Body::Action(__plan::Action {
                        site: 0usize,
                        tool: <__PlanTool0_0 as __plan::Called>::TOOL,
                        args: __plan::Template::Object(
                            __plan::Cow::Borrowed(
                                &[
                                    __plan::Entry {
                                        key: __n0.key("Open", "id"),
                                        value: __plan::Template::Reference(__plan::Reference {
                                            source: __plan::Source::Input(0usize),
                                            path: __plan::Cow::Borrowed(&[]),
                                            written: __plan::Cow::Borrowed("id"),
                                        }),
                                    },
                                ],
                            ),
                        ),
                    }),
                    after: __plan::NO_STEPS,
                    needs: __plan::NO_STEPS,
                    policy: __plan::NO_POLICY,
                }
            };
            const __step_second: __plan::Step = {
                let first = __plan::root::<__PlanStep0>();
                let __n0 = __plan::arguments::<__PlanTool1_0>();
                let __l1 = __plan::literal(
                    &|| {
                        let __v = Place::Shelf {
                            row: __plan::FromLiteral::from_literal(3),
                            label: __plan::FromSome::some(
                                __plan::Fits::fit(
                                    __plan::NotAbsent::present(
                                        __plan::here(&(*__plan::Present::look(first.kind())).label)
                                            .it(),
                                    ),
                                ),
                            ),
                        };
                        __plan::Shaped::literal(__v)
                    },
                );
                let __n2 = __l1.names();
                let _ = || __PlanArguments1_0 {
                    place: __plan::Fits::fit(__plan::NotAbsent::present(__l1.it())),
                    ..__plan::any()
                };
                __plan::Step {
                    id: __plan::Cow::Borrowed("second"),
                    intent: __plan::NO_TEXT,
                    body: __plan::Body::Action(__plan::Action {
                        site: 1usize,
                        tool: <__PlanTool1_0 as __plan::Called>::TOOL,
                        args: __plan::Template::Object(
                            __plan::Cow::Borrowed(
                                &[
                                    __plan::Entry {
                                        key: __n0.key("Store", "place"),
                                        value: __plan::Template::Tagged(
                                            __n2.tag("Shelf"),
                                            __plan::Cow::Borrowed(
                                                &[
                                                    __plan::Template::Object(
                                                        __plan::Cow::Borrowed(
                                                            &[
                                                                __plan::Entry {
                                                                    key: __n2.key("Shelf", "row"),
                                                                    value: __plan::Template::Number(
                                                                        __plan::Number::Unsigned(3u64),
                                                                    ),
                                                                },
                                                                __plan::Entry {
                                                                    key: __n2.key("Shelf", "label"),
                                                                    value: __plan::Template::Reference(__plan::Reference {
                                                                        source: __plan::Source::Step(0usize),
                                                                        path: __plan::Cow::Borrowed(
                                                                            &[<__PlanStep0 as __plan::Shaped>::KNOWN.key("label", true)],
                                                                        ),
                                                                        written: __plan::Cow::Borrowed("first.label"),
                                                                    }),
                                                                },
                                                            ],
                                                        ),
                                                    ),
                                                ],
                                            ),
                                        ),
                                    },
                                ],
                            ),
                        ),
                    }),
                    after: __plan::Cow::Borrowed(&[0usize]),
                    needs: __plan::Cow::Borrowed(&[0usize]),
                    policy: __plan::NO_POLICY,
                }
            };
        "#]],
    );
}
