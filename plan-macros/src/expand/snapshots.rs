//! The expansion of plans, for readers: a complete small plan, and then steps with other values.
//!
//! `UPDATE_EXPECT=1 cargo test -p plan-macros` updates the snapshots.

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, File, Item, Stmt};

fn check(plan: TokenStream, expected: &Expect) {
    let file: File = syn::parse2(crate::plan::plan(plan)).expect("an expansion is Rust");
    expected.assert_eq(&prettyplease::unparse(&file));
}

/// Shows only what checks the steps, and the data.
fn check_steps(plan: TokenStream, expected: &Expect) {
    let mut file: File = syn::parse2(crate::plan::plan(plan)).expect("an expansion is Rust");
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
        Stmt::Item(item @ Item::Const(step))
            if step.ident.to_string().starts_with("check_of_step_") =>
        {
            Some(item.clone())
        }
        Stmt::Item(item @ Item::Fn(step))
            if step.sig.ident.to_string().starts_with("check_of_step_") =>
        {
            Some(item.clone())
        }
        // The data of all steps.
        Stmt::Item(item @ Item::Static(_)) => Some(item.clone()),
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
                ::plan_runtime::check::serde::Serialize,
                ::plan_runtime::check::serde::Deserialize,
                ::plan_runtime::Shape
            )]
            #[serde(crate = "::plan_runtime::check::serde")]
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
                non_snake_case,
                non_upper_case_globals,
                private_bounds,
                unreachable_code,
                unused_qualifications
            )]
            const _: () = {
                #[allow(unused_imports)]
                use ::plan_runtime::check::{
                    self as __plan, AtArray as _, AtKind as _, AtPassed as _, AtValue as _,
                    NoKind as _, NotHandedOver as _, NotMocked as _, NotProbed as _, OwnItself as _,
                    OwnUnsized as _,
                };
                type __PlanInput0 = String;
                type __PlanStep0 = <FetchEmails as __plan::IsTool>::Output;
                type __PlanArguments0_0 = FetchEmails;
                type __PlanFirst = __plan::First<__PlanArguments0_0, false>;
                const check_of_step_inbox: &[__plan::Constant] = {
                    let sender = __plan::root::<__PlanInput0>();
                    let _ = || __PlanArguments0_0 {
                        sender: __plan::Takes::fit(__plan::Allows::present(sender.plan_value())),
                    };
                    let __n0 = __plan::arguments::<<__PlanArguments0_0 as __plan::IsTool>::Itself>();
                    __n0.key("FetchEmails", "sender");
                    &[
                        <<__PlanArguments0_0 as __plan::IsTool>::Itself as __plan::Called>::TOOL
                            .seen(|| {
                                #[allow(unused_imports)]
                                use __plan::StepDeclared as _;
                                let mut __types = __plan::Types::new(::core::module_path!(), false);
                                let __rest = __plan::Of::<
                                    __plan::Cons<
                                        <<__PlanArguments0_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                        __plan::Cons<
                                            <__PlanArguments0_0 as __plan::IsTool>::Itself,
                                            __plan::Nil,
                                        >,
                                    >,
                                >::NEW;
                                let __rest = __rest.step(&mut __types);
                                let __rest = __rest.step(&mut __types);
                                let __rest = __rest.step(&mut __types);
                                let __rest = __rest.step(&mut __types);
                                let __rest = __rest.step(&mut __types);
                                let _ = __rest;
                                __types
                                    .inside(
                                        ::core::any::type_name::<
                                            <<__PlanArguments0_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                        >,
                                    )
                            }),
                    ]
                };
                const check_of_output: &[__plan::Constant] = {
                    let inbox = __plan::root::<__PlanStep0>();
                    let __t1 = <__PlanStep0 as __plan::HasShape<_>>::KNOWN;
                    let __n2 = __plan::root();
                    let __t3 = <_ as __plan::HasShape<_>>::KNOWN;
                    let _ = || -> String {
                        __plan::Takes::fit(
                            __plan::Allows::present(
                                (&{
                                    let __c = &(*{
                                        let __c = &__plan::HasFields::of(
                                                __plan::Reachable::field(inbox.plan_kind()),
                                            )
                                            .data;
                                        __plan::Reachable::look(__c.plan_kind()).plan_length(__n2)
                                    })[0];
                                    __plan::HasFields::of(
                                        __plan::Reachable::see(__c.plan_kind(), __t3),
                                    )
                                }
                                    .thread_id)
                                    .plan_value(),
                            ),
                        )
                    };
                    __t1.check_list("data");
                    __n2.has(0usize);
                    __t3.check("thread_id", true);
                    &[__t1.shape(), __t3.shape()]
                };
                static __PLAN: __plan::LazyPlan = __plan::LazyPlan::new(|| __plan::decode(
                    "13 latest_thread24 Finds the latest thread.1 6 sender6 String0 1 5 inbox20 Look into the inbox.0 T0 a0 11 FetchEmails1 6 senderri0 6 sender;;6 Stringrs0 23 inbox.data[0].thread_id.1 4 data#0 !.2 9 thread_id;",
                    &[check_of_step_inbox, check_of_output],
                ));
                #[doc(hidden)]
                impl<__App> __plan::RunsOn<__App> for LatestThread
                where
                    __App: ?::core::marker::Sized,
                    __App: __plan::HasTool<__PlanArguments0_0, __PlanFirst>,
                {
                    fn lacks(__app: &__App, __plan: &__plan::Plan) -> __plan::Vec<__plan::String> {
                        <__App as __plan::HasTool<
                            __PlanArguments0_0,
                            __PlanFirst,
                        >>::lacks(__app, __plan)
                    }
                    fn start<'__app>(
                        __call_index: ::core::primitive::usize,
                        __request: __plan::Request<'_>,
                        __app: &'__app __App,
                    ) -> __plan::Started<'__app> {
                        match __call_index {
                            0usize => {
                                <__App as __plan::HasTool<
                                    __PlanArguments0_0,
                                    _,
                                >>::start(__app, __request)
                            }
                            _ => __request.unknown(),
                        }
                    }
                    fn begin<'__app>(
                        self,
                        __app: &'__app __App,
                    ) -> ::core::option::Option<
                        __plan::Run<'__app, __App, <Self as __plan::Tool>::Output>,
                    > {
                        let __inputs = (|| ::core::result::Result::Ok(
                            __plan::vec![
                                __plan::Hand:: < __PlanInput0 > ::NEW.input("sender", self.sender,
                                __plan::Hand:: < __PlanInput0 > ::CLONE) ?
                            ],
                        ))();
                        ::core::option::Option::Some(
                            __plan::run_on::<Self, __App, _>(&__PLAN, __inputs, __app),
                        )
                    }
                }
                impl<__App> __plan::Call<__App> for LatestThread
                where
                    __App: ?::core::marker::Sized + ::core::marker::Sync,
                    __App: __plan::HasTool<__PlanArguments0_0, __PlanFirst>,
                {
                    fn call(
                        self,
                        __app: &__App,
                    ) -> impl ::core::future::Future<
                        Output = __plan::Result<<Self as __plan::Tool>::Output>,
                    > + ::core::marker::Send {
                        __plan::called::<Self, _>(__plan::begun(self, __app))
                    }
                    fn call_in(
                        self,
                        __app: &__App,
                        __context: __plan::CallContext,
                    ) -> impl ::core::future::Future<
                        Output = __plan::Result<<Self as __plan::Tool>::Output>,
                    > + ::core::marker::Send {
                        __plan::called_in::<Self, _>(__plan::begun(self, __app), __context)
                    }
                    fn plan_on<'__x>(
                        self,
                        __app: &'__x __App,
                    ) -> ::core::result::Result<__plan::CalledPlan<'__x>, Self>
                    where
                        Self: '__x,
                    {
                        ::core::result::Result::Ok(
                            __plan::plan_of::<Self, __App>(__plan::begun(self, __app)),
                        )
                    }
                }
                impl LatestThread {
                    ///The plan of [`LatestThread`] as data.
                    #[allow(dead_code)]
                    pub const PLAN: &'static __plan::LazyPlan = &__PLAN;
                    ///Runs [`LatestThread`] on an application that has its tools.
                    #[allow(dead_code)]
                    pub fn run<__App>(
                        self,
                        app: &__App,
                    ) -> __plan::Run<'_, __App, <Self as __plan::Tool>::Output>
                    where
                        __App: ?::core::marker::Sized,
                        __App: __plan::HasTool<__PlanArguments0_0, __PlanFirst>,
                    {
                        __plan::begun(self, app)
                    }
                    ///Submits [`LatestThread`] under an id: to a journal, for a process that serves it, or to the client of an engine.
                    #[allow(dead_code)]
                    pub fn submit<'__s, __S: __plan::Submit>(
                        self,
                        to: &'__s __S,
                        id: impl ::core::convert::Into<__plan::String>,
                    ) -> __S::Submission<'__s, <Self as __plan::Tool>::Output> {
                        __plan::submit(&__PLAN, &self, to, id.into())
                    }
                }
                impl __plan::Tool for LatestThread {
                    type Output = String;
                    const NAME: &'static ::core::primitive::str = "latest_thread";
                    const DESCRIPTION: &'static ::core::primitive::str = "Finds the latest thread.";
                    fn take(
                        __arguments: &__plan::Arguments<'_>,
                    ) -> ::core::result::Result<Self, __plan::ResolveError> {
                        #[allow(unused_imports)]
                        use __plan::NotHandedOver as _;
                        if !__arguments.are_handed(&["sender"]) {
                            return __plan::Hand::<Self>::NEW.all(__arguments);
                        }
                        let mut __failed = __arguments.failed();
                        match (
                            __failed
                                .note(
                                    "sender",
                                    __plan::Hand::<String>::NEW.field(__arguments, "sender"),
                                ),
                        ) {
                            (::core::option::Option::Some(__made0),) => {
                                ::core::result::Result::Ok(Self { sender: __made0 })
                            }
                            _ => ::core::result::Result::Err(__failed.error()),
                        }
                    }
                    fn hand_over() -> ::core::option::Option<__plan::HandOver<Self::Output>> {
                        {
                            #[allow(unused_imports)]
                            use __plan::NotHandedOver as _;
                            static KNOWN: __plan::Known = __plan::Known::new();
                            __plan::Hand::<Self::Output>::NEW
                                .over(&KNOWN, __plan::Hand::<Self::Output>::CLONE)
                        }
                    }
                    const PLAN: ::core::option::Option<&'static __plan::LazyPlan> = ::core::option::Option::Some(
                        &__PLAN,
                    );
                    const ON_MOCK: __plan::OnMock<Self> = __plan::Mocked::<Self>::RUN;
                    const ONE_APPLICATION: ::core::primitive::bool = __plan::Kind::<
                        __PlanArguments0_0,
                    >::ONE_APPLICATION;
                }
            };
        "#]],
    );
}

#[test]
fn a_condition() {
    let plan = quote! {
        Open(job: Job) -> bool {
            step open: bool = job.tags[0] == "new" && job.state != State::Done;
            open
        }
    };
    check_steps(
        plan,
        &expect![[r#"
            const check_of_step_open: &[__plan::Constant] = {
                let __q0 = __plan::asked(
                    &|| {
                        #[allow(unused_variables)]
                        let job: &__PlanInput0 = __plan::any();
                        (
                            __plan::of_fields(job),
                            __plan::of_items(&raw const job.tags),
                            __plan::of_equal(&raw const job.tags[0]),
                            __plan::of_both(&raw const job.tags[0], &false),
                            __plan::of_fields(job),
                            __plan::of_equal(&raw const job.state),
                            __plan::of_equal(&State::Done),
                            __plan::of_both(&raw const job.state, &State::Done),
                        )
                    },
                );
                let __k1 = __plan::slot();
                let _ = || -> __PlanStep0 { __k1.value() };
                __plan::written(__plan::Probe::<__PlanInput0>::WRITTEN, "tags");
                __plan::written(__plan::Probe::<__PlanInput0>::WRITTEN, "state");
                &[
                    __plan::Constant::Test(
                        &__q0
                            .answers(|(__q0, __q1, __q2, __q3, __q4, __q5, __q6, __q7)| {
                                #[allow(unused_imports)]
                                use __plan::{
                                    FieldsElsewhere as _, NotClosed as _, ToldByShape as _,
                                    WithoutJson as _,
                                };
                                __plan::vec![
                                    __q0.of_fields(), __q1.of_items(), __q2.of_equal(), __q3
                                    .of_both(), __q4.of_fields(), __q5.of_equal(), __q6.of_equal(),
                                    __plan::constant(& State::Done).plan_json(), __q7.of_both()
                                ]
                            }),
                    ),
                    __plan::Constant::Compute(
                        &__k1
                            .with(
                                |__scope0| {
                                    __scope0
                                        .value_of::<__PlanInput0>(__plan::Source::Input(0usize))?;
                                    ::core::result::Result::Ok(())
                                },
                                |__scope0| {
                                    #[allow(unused_variables)]
                                    let job: &__PlanInput0 = __scope0
                                        .known::<__PlanInput0>(__plan::Source::Input(0usize));
                                    job.tags[0] == "new" && job.state != State::Done
                                },
                            ),
                    ),
                ]
            };
            static __PLAN: __plan::LazyPlan = __plan::LazyPlan::new(|| __plan::with_secrets::<
                Open,
            >(
                __plan::decode(
                    "4 open0 1 3 job3 Job0 1 4 open0 0 Vq0 &2 =2 ==ri0 11 job.tags[0].4 tags#0 ;s3 new=2 !=ri0 9 job.state.5 state;vc1 i0 48 job.tags[0] == \"new\" && job.state != State::Done1 ;4 boolrs0 4 open;",
                    &[check_of_step_open],
                ),
            ));
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
            const check_of_step_late: &[__plan::Constant] = {
                let __q0 = __plan::asked(
                    &|| {
                        #[allow(unused_variables)]
                        let days: &__PlanInput1 = __plan::any();
                        (__plan::of_order(days),)
                    },
                );
                let __k1 = __plan::slot();
                let _ = || -> __PlanStep0 { __k1.value() };
                &[
                    __plan::Constant::Test(
                        &__q0
                            .answers(|(__q0,)| {
                                #[allow(unused_imports)]
                                use __plan::{
                                    FieldsElsewhere as _, NotClosed as _, ToldByShape as _,
                                    WithoutJson as _,
                                };
                                __plan::vec![__q0.of_order()]
                            }),
                    ),
                    __plan::Constant::Compute(
                        &__k1
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
                ]
            };
            const check_of_step_sent: &[__plan::Constant] = {
                let late = __plan::root::<__PlanStep0>();
                let name = __plan::root::<__PlanInput0>();
                let __s3 = __plan::shown(&|| __plan::ShownInText::shown(name.plan_value()));
                let __k4 = __plan::slot();
                let _ = || __PlanArguments1_0 {
                    subject: __plan::TakesText::formatted(),
                    urgent: __plan::Takes::fit(__plan::Allows::present(late.plan_value())),
                };
                let __n2 = __plan::arguments::<<__PlanArguments1_0 as __plan::IsTool>::Itself>();
                __n2.key("Send", "subject");
                __n2.key("Send", "urgent");
                &[
                    <<__PlanArguments1_0 as __plan::IsTool>::Itself as __plan::Called>::TOOL
                        .seen(|| {
                            #[allow(unused_imports)]
                            use __plan::StepDeclared as _;
                            let mut __types = __plan::Types::new(::core::module_path!(), false);
                            let __rest = __plan::Of::<
                                __plan::Cons<
                                    <<__PlanArguments1_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                    __plan::Cons<
                                        <__PlanArguments1_0 as __plan::IsTool>::Itself,
                                        __plan::Nil,
                                    >,
                                >,
                            >::NEW;
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let _ = __rest;
                            __types
                                .inside(
                                    ::core::any::type_name::<
                                        <<__PlanArguments1_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                    >,
                                )
                        }),
                    __plan::Constant::Show(
                        &__plan::show(__s3, |__value| __plan::format!("{}", * __value.show())),
                    ),
                    __plan::Constant::Compute(
                        &__k4
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
                ]
            };
            static __PLAN: __plan::LazyPlan = __plan::LazyPlan::new(|| __plan::decode(
                "6 remind0 2 4 name6 String0 4 days3 u640 2 4 late4 sent0 0 Vq0 =1 >ri1 4 days;u3 c1 i1 8 days > 31 ;0 0 T2 a2 4 Send2 7 subjectx4 s5 Dear v0 -ri0 4 name;3 s2 : v2 >4=c1 i1 8 days + 14 6 urgentrs0 4 late;;7 Receiptrs1 4 sent;",
                &[check_of_step_late, check_of_step_sent],
            ));
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
            const check_of_step_first: &[__plan::Constant] = {
                let id = __plan::root::<__PlanInput0>();
                let _ = || __PlanArguments0_0 {
                    id: __plan::Takes::fit(__plan::Allows::present(id.plan_value())),
                };
                let __n0 = __plan::arguments::<<__PlanArguments0_0 as __plan::IsTool>::Itself>();
                __n0.key("Open", "id");
                &[
                    <<__PlanArguments0_0 as __plan::IsTool>::Itself as __plan::Called>::TOOL
                        .seen(|| {
                            #[allow(unused_imports)]
                            use __plan::StepDeclared as _;
                            let mut __types = __plan::Types::new(::core::module_path!(), false);
                            let __rest = __plan::Of::<
                                __plan::Cons<
                                    <<__PlanArguments0_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                    __plan::Cons<
                                        <__PlanArguments0_0 as __plan::IsTool>::Itself,
                                        __plan::Nil,
                                    >,
                                >,
                            >::NEW;
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let _ = __rest;
                            __types
                                .inside(
                                    ::core::any::type_name::<
                                        <<__PlanArguments0_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                    >,
                                )
                        }),
                ]
            };
            const check_of_step_second: &[__plan::Constant] = {
                let first = __plan::root::<__PlanStep0>();
                let __t4 = <__PlanStep0 as __plan::HasShape<_>>::KNOWN;
                let __l2 = __plan::literal(
                    &|| {
                        let __v = Place::Shelf {
                            row: __plan::TakesInteger::from_integer(3),
                            label: __plan::TakesSome::some(
                                __plan::inner(
                                    __plan::Takes::fit(
                                        __plan::FitsIntoSome::present(
                                            (&__plan::HasFields::of(
                                                    __plan::Reachable::field(first.plan_kind()),
                                                )
                                                .label)
                                                .plan_value(),
                                        ),
                                    ),
                                ),
                            ),
                        };
                        __plan::HasShape::literal(__v)
                    },
                );
                let __n3 = __l2.names();
                let _ = || __PlanArguments1_0 {
                    place: __plan::TakesStruct::fit(__plan::Allows::present(__l2.plan_value())),
                    ..__plan::any()
                };
                __t4.check("label", true);
                __n3.tag("Shelf");
                __n3.key("Shelf", "row");
                __n3.key("Shelf", "label");
                let __n1 = __plan::arguments::<<__PlanArguments1_0 as __plan::IsTool>::Itself>();
                __n1.key("Store", "place");
                &[
                    <<__PlanArguments1_0 as __plan::IsTool>::Itself as __plan::Called>::TOOL
                        .seen(|| {
                            #[allow(unused_imports)]
                            use __plan::StepDeclared as _;
                            let mut __types = __plan::Types::new(::core::module_path!(), false);
                            let __rest = __plan::Of::<
                                __plan::Cons<
                                    <<__PlanArguments1_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                    __plan::Cons<
                                        <__PlanArguments1_0 as __plan::IsTool>::Itself,
                                        __plan::Nil,
                                    >,
                                >,
                            >::NEW;
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let __rest = __rest.step(&mut __types);
                            let _ = __rest;
                            __types
                                .inside(
                                    ::core::any::type_name::<
                                        <<__PlanArguments1_0 as __plan::IsTool>::Itself as __plan::IsTool>::Output,
                                    >,
                                )
                        }),
                    __n3.shape(),
                    __t4.shape(),
                ]
            };
            static __PLAN: __plan::LazyPlan = __plan::LazyPlan::new(|| __plan::decode(
                "7 archive0 1 2 id3 u640 2 5 first6 second0 0 T0 a0 4 Open1 2 idri0 2 id;;0 1 0 T1 a1 5 Store1 5 placev2 5 Shelfa2 5 Shelf2 3 rowu3 5 labelrs0 11 first.label.3 5 label;;2 ()n",
                &[check_of_step_first, check_of_step_second],
            ));
        "#]],
    );
}

/// Conditions of double length have at most slightly more than double the tokens.
#[test]
fn conditions_grow_with_their_operands() {
    let tokens = |count: usize| {
        let compared = (0..count).map(|_| quote!(job.tags[0] == job.name));
        let plan = quote! {
            Long(job: Job) -> bool { #(#compared)||* }
        };
        fn count_of(tokens: TokenStream) -> usize {
            let count = |tree| match tree {
                proc_macro2::TokenTree::Group(group) => 1 + count_of(group.stream()),
                _ => 1,
            };
            tokens.into_iter().map(count).sum()
        }
        count_of(crate::plan::plan(plan))
    };
    let (once, twice, again) = (tokens(50), tokens(100), tokens(200));
    assert!(twice < 21 * once / 10, "{once} {twice}");
    assert!(again < 21 * twice / 10, "{twice} {again}");
}
