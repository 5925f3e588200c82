//! Is a defect that was there before told apart from a new one?

use liveset_engine::validate::{Code, Defect, MAX_DEFECTS_PER_CODE, new_defects};

fn defects(paths: &[&str]) -> Vec<Defect> {
    let defect = |(place, path): (usize, &&str)| Defect {
        offset: place,
        code: Code::EmptyText,
        path: (*path).to_owned(),
        message: "a block of blank text",
    };
    paths.iter().enumerate().map(defect).collect()
}

fn new_paths(before: &[&str], after: &[&str]) -> Vec<String> {
    new_defects(&defects(before), &defects(after)).into_iter().map(|defect| defect.path).collect()
}

#[test]
fn a_defect_that_moved_is_not_new() {
    assert_eq!(new_paths(&["messages[7].content[1]"], &["messages[3].content[0]"]), [""; 0]);
    assert_eq!(new_paths(&["messages[7]", "messages[9]"], &["messages[3]"]), [""; 0]);
}

#[test]
fn one_more_is_new_where_the_body_was_sound() {
    assert_eq!(new_paths(&["messages[7]"], &["messages[3]", "messages[7]"]), ["messages[3]"]);
    assert_eq!(new_paths(&[], &["messages[3]"]), ["messages[3]"]);
}

#[test]
fn the_same_code_elsewhere_is_new() {
    assert_eq!(new_paths(&["messages[7]"], &["system[7]"]), ["system[7]"]);
    let mut other = defects(&["messages[7]"]);
    other[0].code = Code::OrphanResult;
    assert_eq!(new_defects(&other, &defects(&["messages[7]"])).len(), 1);
}

#[test]
fn a_code_at_its_limit_explains_any_number() {
    let full = vec!["messages[1]"; MAX_DEFECTS_PER_CODE];
    assert_eq!(new_paths(&full, &["system[7]"]), [""; 0]);
    assert_eq!(new_paths(&full[1..], &["system[7]"]), ["system[7]"]);
}
