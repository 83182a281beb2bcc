//! The signals of the operating system, in a process of their own.

use toolgate_lifecycle::{Signal, Signals};

#[tokio::test]
async fn both_signals_are_heard_and_do_not_end_the_process() {
    let mut signals = Signals::listen().unwrap();
    for (name, expected) in
        [("TERM", Signal::Terminate), ("INT", Signal::Interrupt), ("TERM", Signal::Terminate)]
    {
        let kill = format!("kill -{name} {}", std::process::id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(signals.next().await, expected);
    }
}
