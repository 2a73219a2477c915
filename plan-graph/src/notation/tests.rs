//! Writes and reads random plans, and reads plans with random errors.

use super::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> + Clone {
    "[a-c;é 0]{0,4}"
}

fn duration() -> impl Strategy<Value = Duration> {
    (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(seconds, rest)| Duration::new(seconds, rest))
}

fn scalar() -> impl Strategy<Value = ScalarData<String>> {
    prop_oneof![
        Just(ScalarData::Null),
        Just(ScalarData::False),
        Just(ScalarData::True),
        any::<u64>().prop_map(ScalarData::Unsigned),
        any::<u64>().prop_map(ScalarData::Negative),
        text().prop_map(ScalarData::Float),
        text().prop_map(ScalarData::String),
    ]
}

fn source() -> impl Strategy<Value = SourceData> {
    prop_oneof![
        any::<usize>().prop_map(SourceData::Step),
        any::<usize>().prop_map(SourceData::Input),
        any::<usize>().prop_map(SourceData::Local),
    ]
}

fn reference() -> impl Strategy<Value = ReferenceData<String>> {
    let absence = prop_oneof![
        Just(AbsenceData::Error),
        Just(AbsenceData::Null),
        Just(AbsenceData::Whole),
    ];
    let index = (any::<usize>(), absence.clone());
    let segment = prop_oneof![
        (any::<usize>(), text()).prop_map(|(shape, name)| SegmentData::Field(shape, name)),
        index.prop_map(|(index, absence)| SegmentData::Index(index, absence)),
        (text(), absence).prop_map(|(key, absence)| SegmentData::Key(key, absence)),
        Just(SegmentData::Each),
        any::<usize>().prop_map(SegmentData::Asked),
    ];
    (source(), text(), vec(segment, 0..4)).prop_map(|(source, written, path)| ReferenceData {
        source,
        written,
        path: Ended(path),
    })
}

fn form() -> impl Strategy<Value = FormData<String>> {
    let part = prop_oneof![
        text().prop_map(PlacePart::Field),
        any::<usize>().prop_map(PlacePart::Index),
        text().prop_map(PlacePart::Key),
    ];
    let place = (source(), text(), vec(part, 0..3));
    let leaf = prop_oneof![
        scalar().prop_map(FormData::Scalar),
        Just(FormData::Constant),
        place.prop_map(|(source, written, path)| FormData::Place(source, written, Ended(path))),
    ];
    leaf.prop_recursive(3, 12, 3, |form| {
        prop_oneof![
            vec(form.clone(), 0..3).prop_map(FormData::All),
            vec(form.clone(), 0..3).prop_map(FormData::Any),
            form.clone().prop_map(|form| FormData::Not(form.into())),
            (text(), form.clone(), form.clone()).prop_map(|(sign, a, b)| FormData::Compare(
                sign,
                a.into(),
                b.into()
            )),
            (text(), form).prop_map(|(method, form)| FormData::Ask(method, form.into())),
        ]
    })
}

fn template() -> impl Strategy<Value = TemplateData<String>> + Clone {
    let computed = (vec(source(), 0..3), text(), any::<usize>());
    let leaf = prop_oneof![
        scalar().prop_map(TemplateData::Scalar),
        reference().prop_map(TemplateData::Reference),
        computed.prop_map(|(reads, written, code)| TemplateData::Computed(reads, written, code)),
    ];
    let tree = leaf.prop_recursive(3, 12, 3, |template| {
        let entries = vec((text(), template.clone()), 0..3);
        let shown = prop_oneof![
            (template.clone(), any::<usize>()).prop_map(|(value, show)| ShownData::By(value, show)),
            template.clone().prop_map(ShownData::Text),
        ];
        let part = prop_oneof![
            text().prop_map(PartData::Text),
            (text(), shown).prop_map(|(spec, shown)| PartData::Placeholder(spec, shown)),
        ];
        prop_oneof![
            vec(template.clone(), 0..3).prop_map(TemplateData::List),
            entries.clone().prop_map(TemplateData::Object),
            (any::<usize>(), text(), entries)
                .prop_map(|(shape, variant, fields)| TemplateData::Fields(shape, variant, fields)),
            (any::<usize>(), text(), template.clone())
                .prop_map(|(shape, variant, it)| TemplateData::Literal(shape, variant, it.into())),
            vec(part, 0..3).prop_map(TemplateData::Format),
            (any::<usize>(), form(), template).prop_map(|(answers, form, it)| TemplateData::Test(
                answers,
                form,
                it.into()
            )),
        ]
    });
    tree.boxed()
}

fn setting() -> impl Strategy<Value = SettingData<String>> {
    let amount = prop::sample::select(vec![
        Amount::Attempts,
        Amount::Backoff,
        Amount::Max,
        Amount::Timeout,
        Amount::Deadline,
        Amount::Concurrency,
        Amount::AtMost,
        Amount::Every,
    ]);
    let fixed = prop_oneof![
        Just(SettingData::Optional),
        Just(SettingData::OptionalEach),
        Just(SettingData::Catch),
        Just(SettingData::CatchEach),
        Just(SettingData::Collect),
        any::<bool>().prop_map(SettingData::Jitter),
    ];
    prop_oneof![
        fixed,
        (amount.clone(), any::<usize>())
            .prop_map(|(amount, count)| SettingData::Count(amount, count)),
        (amount.clone(), duration()).prop_map(|(amount, time)| SettingData::Time(amount, time)),
        template().prop_map(SettingData::Fallback),
        (amount.clone(), text(), any::<usize>()).prop_map(|(amount, written, constant)| {
            SettingData::Constant(amount, written, constant)
        }),
        (amount, template()).prop_map(|(amount, value)| SettingData::Given(amount, value)),
    ]
}

/// Generates steps with bodies from this strategy.
fn steps(
    body: impl Strategy<Value = BodyData<String>>,
) -> impl Strategy<Value = Named<String, StepData<String>>> {
    let role = prop_oneof![
        any::<usize>().prop_map(RoleData::Undo),
        Just(RoleData::Always)
    ];
    let after = vec(any::<usize>(), 0..3);
    let parts = (text(), after, option::of(role), body, vec(setting(), 0..3));
    let step = parts.prop_map(|(intent, after, role, body, policy)| StepData {
        intent,
        after,
        role,
        body,
        policy: Ended(policy),
    });
    vec((text(), step), 0..3).prop_map(Named)
}

fn body() -> impl Strategy<Value = BodyData<String>> {
    let leaf = prop_oneof![
        (any::<usize>(), template()).prop_map(|(tool, value)| BodyData::Call(tool, value)),
        template().prop_map(BodyData::Value),
        (text(), any::<usize>()).prop_map(|(ty, receive)| BodyData::Await(ty, receive)),
    ];
    leaf.prop_recursive(2, 6, 2, |body| {
        let condition = prop_oneof![
            template().prop_map(ConditionData::Holds),
            (text(), template()).prop_map(|(pattern, value)| ConditionData::Let(pattern, value)),
        ];
        let branch = (vec(condition, 0..3), body.clone())
            .prop_map(|(conditions, body)| BranchData { conditions, body });
        let inputs = vec((text(), template()), 0..3);
        let block = (inputs, steps(body.clone()), template()).prop_map(|(inputs, steps, value)| {
            BlockData {
                inputs,
                steps,
                value,
            }
        });
        let block = block.boxed();
        prop_oneof![
            vec(branch, 0..3).prop_map(BodyData::If),
            (text(), template(), body).prop_map(|(pattern, list, body)| BodyData::For(
                pattern,
                list,
                body.into()
            )),
            block.clone().prop_map(BodyData::Block),
            (any::<bool>(), block, template())
                .prop_map(|(last, round, again)| BodyData::Loop(last, round, again)),
        ]
    })
}

fn plan() -> impl Strategy<Value = PlanData<String>> {
    let inputs = vec((text(), text(), text()), 0..3);
    let parts = (text(), text(), inputs, steps(body()), text(), template());
    parts.prop_map(
        |(name, description, inputs, steps, output_type, output)| PlanData {
            name,
            description,
            inputs: (inputs.into_iter())
                .map(|(name, type_name, description)| InputData {
                    name,
                    type_name,
                    description,
                })
                .collect(),
            steps,
            output_type,
            output,
        },
    )
}

fn read(text: &str) -> Result<PlanData<String>, &str> {
    PlanData::of_text(text, 64)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_written_plan_is_read(plan in plan()) {
        let text = plan.to_text();
        prop_assert_eq!(read(&text), Ok(plan));
    }

    /// Replaces a few letters, or cuts the string.
    #[test]
    fn broken_text_is_read_without_panic(
        plan in plan(),
        from in any::<prop::sample::Index>(),
        length in 0..3_usize,
        other in "[a-zA-Z0-9;#*?! ]{0,3}",
        is_cut in any::<bool>(),
    ) {
        let mut chars: Vec<char> = plan.to_text().chars().collect();
        let from = from.index(chars.len());
        let to = if is_cut { chars.len() } else { chars.len().min(from + length) };
        chars.splice(from..to, other.chars());
        let text = String::from_iter(chars);
        if let Ok(plan) = read(&text) {
            let text = plan.to_text();
            prop_assert_eq!(read(&text), Ok(plan));
        }
    }
}

#[test]
fn levels_are_counted() {
    let nested = |levels: usize| format!("1 p0 0 0 0 {}n", "l1 ".repeat(levels));
    assert!(read(&nested(63)).is_ok());
    assert_eq!(read(&nested(64)), Err("n"));
}

#[test]
fn long_lists_are_not_reserved() {
    let text = format!("1 p0 0 0 0 l{} n", usize::MAX);
    assert_eq!(read(&text), Err(""));
}
