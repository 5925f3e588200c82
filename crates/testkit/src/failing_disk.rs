//! What if one write fails, and only that one? Runs work on a disk whose nth write, sync or change of a name fails.
//!
//! The only unsafe code of this crate: the system calls that put somebody in charge of other system calls.

#![expect(unsafe_code, reason = "no library in use offers these system calls")]

use std::{
    ffi::c_ulong,
    fs, io,
    os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
    path::Path,
    sync::mpsc,
};

use libc::{seccomp_notif, seccomp_notif_resp, sock_filter};

/// Calls that change an open file, named by its number.
const OF_FILES: [libc::c_long; 7] = [
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
];

/// Calls that change names. The older ones exist on some machines alone.
const OF_NAMES: &[libc::c_long] = &[
    libc::SYS_linkat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(not(target_arch = "riscv64"))]
    libc::SYS_renameat,
];

/// Which write fails, and how.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// Its number among all, from 1. One that is never reached fails nothing.
    pub at: u64,
    /// What the system says, as `errno`.
    pub errno: i32,
}

/// What came of work on a failing disk.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What the work gave.
    pub value: T,
    /// What failed; `None` where the write was never reached.
    pub failed: Option<Step>,
}

/// A kind of step on the way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A write to a file, or a cut of one.
    Write,
    /// A sync of a file or folder.
    Sync,
    /// A change of a name.
    Name,
}

/// Runs `work` on a thread of its own, for which, and for all threads and processes that it starts, one write below
/// `folder` fails. Ends when all of these have ended.
///
/// Counted are writes, syncs and cuts of files in the folder, and every change of a name, wherever.
///
/// # Errors
/// The system lets nobody be put in charge of system calls.
pub fn on_failing_disk<T: Send>(
    folder: &Path,
    failure: Failure,
    work: impl FnOnce() -> T + Send,
) -> io::Result<Outcome<T>> {
    let folder = folder.canonicalize()?;
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::sync_channel(1);
        let worker = scope.spawn(move || {
            let listener = listen()?;
            let is_heard = tell.send(listener);
            is_heard.map_err(|_| io::Error::other("nobody takes charge")).map(|()| work())
        });
        let failed = match told.recv() {
            Ok(listener) => take_charge(&listener, &folder, failure)?,
            // The worker says why.
            Err(_) => None,
        };
        let value = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(Outcome { value, failed })
    })
}

/// Has this thread, and whatever it starts, ask before each of the calls; gives where it asks.
fn listen() -> io::Result<OwnedFd> {
    let calls: Vec<libc::c_long> = OF_FILES.iter().chain(OF_NAMES).copied().collect();
    let op = |code: u32, value: u32, yes: usize| sock_filter {
        code: code as u16,
        jt: u8::try_from(yes).unwrap_or(u8::MAX),
        jf: 0,
        k: value,
    };
    // The number of the call stands first in what the filter is given.
    let mut program = vec![op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (at, call) in calls.iter().enumerate() {
        // Past the remaining questions and the leave to go on.
        program.push(op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, calls.len() - at));
    }
    program.push(op(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0));
    program.push(op(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let (one, none): (c_ulong, c_ulong) = (1, 0);
    // SAFETY: these arguments are numbers.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, one, none, none, none) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the filter and what it points to outlive the call, which copies them.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const filter,
        )
    };
    match i32::try_from(listener) {
        // SAFETY: the system opened it for this call, and nobody else knows it.
        Ok(number) if number >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        Ok(_) | Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Answers until nobody is left to ask; says what failed.
fn take_charge(listener: &OwnedFd, folder: &Path, failure: Failure) -> io::Result<Option<Step>> {
    let (mut writes, mut failed) = (0, None);
    while is_asked(listener)? {
        let Some(asked) = question(listener)? else { continue };
        let mut answer = seccomp_notif_resp { id: asked.id, val: 0, error: 0, flags: 0 };
        answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        if let Some(step) = counted(&asked, folder) {
            writes += 1;
            if writes == failure.at {
                (answer.flags, answer.error, failed) = (0, -failure.errno, Some(step));
            }
        }
        // SAFETY: the answer outlives the call. Who asked may have died: then nobody waits for it.
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
    }
    Ok(failed)
}

/// Waits for a question; `false` when all who could ask have ended.
fn is_asked(listener: &OwnedFd) -> io::Result<bool> {
    loop {
        let mut poll = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which outlives the call.
        if unsafe { libc::poll(&raw mut poll, 1, -1) } >= 0 {
            return Ok(poll.revents & libc::POLLIN != 0);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// `None` where who asked is gone.
fn question(listener: &OwnedFd) -> io::Result<Option<seccomp_notif>> {
    // SAFETY: numbers alone, for each of which zero is a value; the system wants it empty.
    let mut asked: seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: it outlives the call, which fills it.
    if unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) } == 0 {
        return Ok(Some(asked));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EINTR) => Ok(None),
        Some(_) | None => Err(error),
    }
}

/// `None` for what is done to files elsewhere.
fn counted(asked: &seccomp_notif, folder: &Path) -> Option<Step> {
    let call = libc::c_long::from(asked.data.nr);
    if !OF_FILES.contains(&call) {
        return Some(Step::Name);
    }
    let file = fs::read_link(format!("/proc/{}/fd/{}", asked.pid, asked.data.args[0]));
    let is_sync = [libc::SYS_fsync, libc::SYS_fdatasync].contains(&call);
    file.is_ok_and(|file| file.starts_with(folder)).then_some(if is_sync { Step::Sync } else { Step::Write })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn write_thrice(folder: &Path) -> Vec<Option<i32>> {
        let mut file = fs::File::create(folder.join("file")).unwrap();
        let write = |at: u8| file.write_all(&[at]).err().and_then(|error| error.raw_os_error());
        (0..3).map(write).collect()
    }

    #[test]
    fn the_nth_write_fails_and_the_others_do_not() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for at in 1..=4 {
            let failure = Failure { at, errno: libc::ENOSPC };
            let outcome = match on_failing_disk(folder.path(), failure, || write_thrice(folder.path())) {
                Ok(outcome) => outcome,
                Err(error) => return crate::skipped("no system calls can be failed here", error),
            };
            let expected = (1..=3).map(|write| (write == at).then_some(libc::ENOSPC)).collect::<Vec<_>>();
            assert_eq!((outcome.value, outcome.failed), (expected, (at <= 3).then_some(Step::Write)));
            let elsewhere = on_failing_disk(folder.path(), failure, || write_thrice(other.path())).unwrap();
            assert_eq!(elsewhere.failed, None, "what is written elsewhere is not counted");
        }
    }
}
