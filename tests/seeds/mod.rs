//! The three documents that the project started from, item by item.
//!
//! A document is a page of another project about plans whose steps refer to each other. Each of its examples, tables, unit tests and exercises is a
//! test here, with the document's own data. A comment explains each intentional difference of the project.
//!
//! # 000: `PlanReferenceResolver`
//!
//! | item of the page | test in `plan_reference_resolver` |
//! |---|---|
//! | the class: `$ref:step_id` and `$ref:step_id.field.nested` | `class_resolves_ref_step_id_and_ref_step_id_field_nested` |
//! | a stateless utility, all methods static | no public function, by design: the module's comment |
//! | reference syntax, first point: the full output | `reference_syntax_step_id_is_the_full_output_unquoted_json_or_quoted_text` |
//! | second point: a field | `reference_syntax_field_keeps_the_type_of_the_extracted_value` |
//! | third point: JSON Pointer | `reference_syntax_field_nested_is_a_json_pointer` |
//! | `REF_PATTERN` | `ref_pattern_matches_a_whole_string_with_ascii_names` |
//! | `resolve`: parameters, return value | `resolve_replaces_all_references_of_the_raw_json_arguments` |
//! | `resolve`: throws | `resolve_throws_if_a_reference_points_to_an_unresolved_step` |
//! | `extractDependencies` | `extract_dependencies_is_the_set_of_referenced_step_ids` |
//! | `extractField` | `extract_field_of_a_missing_field_is_null_in_compat_and_an_error_in_strict` |
//! | `formatOutput` | `format_output_keeps_json_and_quotes_plain_text` |
//! | in `plan!` | `in_plan_macro_references_have_types` |
//!
//! # 001: the blueprint of step references
//!
//! | item of the page | test in `step_references` |
//! |---|---|
//! | problem statement, benchmark scenario 1 | `problem_statement_the_reference_to_step_0_is_valid` |
//! | benchmark: 24 % before, 0 % after; success metrics | `reference_errors_of_the_scenarios_go_from_24_percent_to_0` of plan-server |
//! | `StepResultCache` and its methods | `step_result_cache_is_the_report` |
//! | `resolveReferences` | `resolve_references_of_strings_arrays_and_objects_and_keeps_other_values` |
//! | `resolveStringReferences` | `resolve_string_references_replaces_each_reference_of_a_string`, `resolve_string_references_of_a_failed_step_is_an_error` |
//! | `getNestedValue` | `get_nested_value_follows_properties_and_array_indices`, `get_nested_value_of_a_missing_property_is_an_error` |
//! | `executePlan`, `checkDependencies` | `execute_plan_checks_dependencies_first` |
//! | `executePlan`: `EXECUTION_FAILED`, results, metadata | `execute_plan_reports_results_and_totals`; `results_have_the_codes_and_totals_of_the_blueprint` of plan-server |
//! | `executePlan`: `optional` | `execute_plan_continues_after_an_optional_step` |
//! | GraphQL `PlanStep` | `graphql_plan_step_fields_are_the_policy_and_the_order` |
//! | GraphQL `ToolResult` | `step_result_cache_is_the_report`; `results_have_the_names_of_the_blueprint` of plan-server |
//! | unit tests 1 to 3 | `unit_test_should_resolve_simple_step_reference`, `unit_test_should_resolve_array_access`, `unit_test_should_handle_missing_step_gracefully` |
//! | integration test | `integration_test_should_execute_plan_with_step_references`; `results_have_the_names_of_the_blueprint` of plan-server |
//! | performance impact | no test: `BENCHMARKS.md` has the costs |
//! | rollback: the flag, the old executor | none, by design: each request chooses its profile |
//! | rollback: monitoring | `reference_errors_are_counted_by_reading` of plan-server |
//! | in `plan!` | `in_plan_macro_the_reference_has_a_name_and_a_type` |
//!
//! # 002: Dependency Resolution
//!
//! | item of the page | test in `dependency_resolution` |
//! |---|---|
//! | the problem: John's e-mail | `the_problem_the_email_of_john_is_known_when_the_email_is_sent` |
//! | placeholder syntax | `placeholder_syntax_names_a_step_and_a_path_to_data` |
//! | how it works: after step 1, before step 2 | `how_it_works_the_resolver_transforms_the_arguments_of_step_2` |
//! | `resolve` | `resolver_resolve_replaces_strings_and_leaves_other_values`, `resolver_resolve_keeps_types_and_never_splices_text` |
//! | `resolvePath`: three errors, the start of a path | `resolver_resolve_path_step_not_found`, `…_step_not_completed_yet`, `…_path_not_found`, `…_starts_at_the_result` |
//! | `accessProperty` | `resolver_access_property_handles_array_notation` |
//! | `ToolOrchestrator` | `tool_orchestrator_executes_each_step_with_results_of_earlier_steps` |
//! | `findDependencies` | `find_dependencies_finds_john_and_the_manager` |
//! | execution order, `getExecutionLevels` | `get_execution_levels_of_the_diamond`, `execution_order_b_and_c_run_in_parallel_and_d_waits_for_both` |
//! | "Circular dependency detected" | `get_execution_levels_circular_dependency_detected` |
//! | `PLACEHOLDER_`, `findUserPlaceholders` | `find_user_placeholders_of_create_meeting` |
//! | the UI prompts, then the plan runs | `placeholder_convention_the_user_fills_inputs_before_the_run`, `placeholder_convention_nothing_runs_until_they_are_filled` |
//! | error handling, a test for each row | `error_handling_not_completed_is_blocked_waiting_for_dependency`, `error_handling_path_not_found_is_failed_missing_data`, `error_handling_step_not_found_is_failed_invalid_reference` |
//! | real example: Sarah's thread | `real_example_step_2_of_sarahs_thread_resolved_to` |
//! | exercise 2 to 4 | `exercise_2_draw_the_dependency_graph`, `exercise_3_the_execution_order`, `exercise_4_if_step_b_fails_c_and_d_are_affected` |
//! | in `plan!` | the plans of `typed`, each compared with the document's plan |
//!
//! `reference` has the resolvers of the documents in Rust, and `random` compares them with the project on random plans.

mod dependency_resolution;
mod desk;
mod plan_reference_resolver;
mod random;
mod reference;
mod step_references;
mod typed;
