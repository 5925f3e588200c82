//! Who writes? One thread a handle, so that releases that arrive together share one commit.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{FileId, connect, evict, fault, file_id, indexer, schema, store};
use crate::{Error, Result, folder};

/// Releases that one commit may hold: more would let the first wait for the last.
const MAX_GROUP: usize = 64;

/// Texts that the writer remembers to be whole; one that it forgot is read again when it is stored again.
const MAX_WHOLE: usize = 1 << 17;

/// Jobs that may wait; who hands in more waits too.
const QUEUE: usize = 1_024;

/// Without work for so long, the writer brings the index up to date: short enough that a search finds it done, long
/// enough that releases that follow each other never wait for it.
const IDLE: Duration = Duration::from_millis(250);

/// Steps of the index that are taken before a handle that searched is closed: some tenths of a second.
const CLOSING_STEPS: usize = 16;

type Task = Box<dyn FnOnce(&mut Desk) + Send>;

/// A parcel, and where its answer is waited for.
type Waiting = (store::Parcel, SyncSender<Result<store::Stored>>);

enum Job {
    Put(Box<Waiting>),
    Task(Task),
    /// Bring the index up to date when there is time.
    Index,
}

/// What the writing thread works with.
pub(super) struct Desk {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) limits: evict::Limits,
    /// Texts that this thread wrote, or read and found whole.
    pub(super) whole: HashSet<i64>,
    /// Which file the connection writes to.
    file: Option<FileId>,
    /// A write failed, and what became of it is unknown: a later sync may call it written although it is not.
    has_failed: bool,
}

/// The writing thread, started by the first write.
pub(super) struct Writer {
    path: PathBuf,
    limits: evict::Limits,
    running: Mutex<Option<Running>>,
}

struct Running {
    jobs: SyncSender<Job>,
    thread: JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(path: &Path, limits: evict::Limits) -> Self {
        Self { path: path.to_owned(), limits, running: Mutex::new(None) }
    }

    /// Stores a parcel and waits until it is durable.
    pub(super) fn put(&self, parcel: store::Parcel) -> Result<store::Stored> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(Job::Put(Box::new((parcel, reply))))?;
        answer.recv().unwrap_or_else(|_| Err(self.failed()))
    }

    /// Runs something else in the writing thread and waits for it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(Job::Task(Box::new(move |desk| {
            // Who asked may have gone.
            let _ = reply.send(task(desk));
        })))?;
        answer.recv().unwrap_or_else(|_| Err(self.failed()))
    }

    /// Has the index brought up to date when there is time; waits for nothing, and a writer that cannot is no error.
    pub(super) fn index_soon(&self) {
        let Ok(jobs) = self.jobs() else { return };
        // A queue that is full of releases ends in the same.
        let _ = jobs.try_send(Job::Index);
    }

    fn send(&self, job: Job) -> Result<()> {
        self.jobs()?.send(job).map_err(|_| self.failed())
    }

    fn jobs(&self) -> Result<SyncSender<Job>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match &*running {
            Some(running) => running.jobs.clone(),
            None => running.insert(self.start()?).jobs.clone(),
        })
    }

    fn failed(&self) -> Error {
        Error::Failed { path: self.path.clone() }
    }

    fn start(&self) -> Result<Running> {
        let mut connection = connect::writer(&self.path)?;
        schema::prepare(&mut connection, &self.path)?;
        folder::sync_above(&self.path)?;
        let mut desk = Desk {
            connection,
            path: self.path.clone(),
            limits: self.limits,
            whole: HashSet::new(),
            file: file_id(&self.path),
            has_failed: false,
        };
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let builder = std::thread::Builder::new().name("liveset-archive".to_owned());
        let thread =
            builder.spawn(move || desk.work(&queue)).map_err(crate::error::at("start a thread for", &self.path))?;
        Ok(Running { jobs, thread })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { jobs, thread }) = running {
            drop(jobs);
            // Each job was answered; closing the file is all that is left.
            let _ = thread.join();
        }
    }
}

impl Desk {
    fn work(&mut self, queue: &Receiver<Job>) {
        // What an earlier process left unindexed is left to the first search.
        let (mut is_behind, mut is_asked) = (false, false);
        loop {
            let job = match is_behind {
                true => queue.recv_timeout(IDLE),
                false => queue.recv().map_err(RecvTimeoutError::from),
            };
            match job {
                Ok(Job::Task(task)) => task(self),
                Ok(Job::Index) => (is_behind, is_asked) = (true, true),
                Ok(Job::Put(first)) => {
                    let next = self.put_group(vec![*first], queue);
                    is_behind = true;
                    if let Some(task) = next {
                        task(self);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    // The next search, or release, has it tried again.
                    is_behind = indexer::step(self).is_ok_and(|indexed| indexed > 0);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    // A program that only ever searches once and ends would otherwise leave the work to the next, for ever.
                    let steps = if is_behind && is_asked { CLOSING_STEPS } else { 0 };
                    (0..steps).take_while(|_| indexer::step(self).is_ok_and(|indexed| indexed > 0)).count();
                    return;
                }
            }
        }
    }

    /// Stores what waits together with the first; gives the task that ended the group.
    fn put_group(&mut self, mut group: Vec<Waiting>, queue: &Receiver<Job>) -> Option<Task> {
        let mut next = None;
        while group.len() < MAX_GROUP {
            match queue.try_recv() {
                Ok(Job::Put(waiting)) => group.push(*waiting),
                Ok(Job::Task(task)) => {
                    next = Some(task);
                    break;
                }
                // What is put has it brought up to date as well.
                Ok(Job::Index) => {}
                Err(_) => break,
            }
        }
        let parcels: Vec<&store::Parcel> = group.iter().map(|(parcel, _)| parcel).collect();
        let answers = match self.commit(&parcels) {
            Ok(answers) => answers,
            // One of them may be what does not go; the others should not pay for it.
            Err(_) if group.len() > 1 && !self.has_failed => parcels
                .iter()
                .map(|parcel| {
                    self.commit(&[parcel]).and_then(|mut one| one.pop().unwrap_or_else(|| Err(self.failed())))
                })
                .collect(),
            Err(error) => vec![Err(error)],
        };
        for ((_, reply), answer) in group.iter().zip(answers) {
            let _ = reply.send(answer);
        }
        // Where the group failed as a whole, the others' channels close unanswered, which says the same.
        next
    }

    /// Stores parcels in one transaction. A parcel that is refused leaves nothing; the others go on.
    pub(super) fn commit(&mut self, parcels: &[&store::Parcel]) -> Result<Vec<Result<store::Stored>>> {
        let (limits, whole) = (self.limits, std::mem::take(&mut self.whole));
        let mut fresh = Vec::new();
        let outcome = self.write(|transaction, path| {
            let answers = put_each(transaction, path, parcels, &whole, &mut fresh)?;
            // The oldest: nothing of this commit may go to make room for the rest of it.
            let now = parcels.iter().map(|parcel| parcel.at).min().unwrap_or_default();
            evict::make_room(transaction, path, &limits, now)?;
            Ok(answers)
        });
        self.whole = whole;
        if self.whole.len() > MAX_WHOLE {
            self.whole.clear();
        }
        if outcome.is_ok() {
            self.whole.extend(fresh);
        }
        outcome
    }

    /// Runs work that gives up where it would have to wait for another process.
    pub(super) fn at_once<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let fail = |error| fault::of("set up", &self.path, &error);
        self.connection.busy_timeout(Duration::ZERO).map_err(fail)?;
        let done = work(self);
        let fail = |error| fault::of("set up", &self.path, &error);
        self.connection.busy_timeout(connect::WAIT).map_err(fail)?;
        done
    }

    /// Runs one transaction: all of it is durable afterwards, or nothing of it may be relied on. The one way to write.
    pub(super) fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>, &Path) -> Result<T>) -> Result<T> {
        let path = self.path.clone();
        self.lasting(|connection| transact(connection, &path, |transaction| work(transaction, &path)))
    }

    /// Gives freed pages to the system and empties the log, which still holds what was removed.
    pub(super) fn give_back(&mut self) -> Result<()> {
        let path = self.path.clone();
        self.lasting(|connection| give_back(connection, &path).map_err(Failure::Commit))
    }

    /// Sees to it that what was written is still there under its name, and that a file whose state nobody knows takes no
    /// more.
    fn lasting<T>(&mut self, work: impl FnOnce(&mut Connection) -> std::result::Result<T, Failure>) -> Result<T> {
        if self.has_failed {
            return Err(self.failed());
        }
        let done = match work(&mut self.connection) {
            Ok(done) => done,
            Err(Failure::Before(error)) => return Err(error),
            Err(Failure::Commit(error)) => {
                // A later commit may be called durable on top of pages that never reached the disk.
                self.has_failed = !matches!(error, Error::Busy { .. });
                return Err(error);
            }
        };
        // What was written to a file without a name is lost when it is closed.
        let is_named = file_id(&self.path) == self.file;
        let is_whole = connect::beside(&self.path, "-wal").exists() || !self.is_logged();
        if is_named && is_whole {
            return Ok(done);
        }
        self.has_failed = true;
        Err(Error::Removed { path: self.path.clone() })
    }

    /// Says whether a log lies beside the file.
    fn is_logged(&self) -> bool {
        let mode = self.connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
        mode.is_ok_and(|mode| mode == "wal")
    }

    fn failed(&self) -> Error {
        Error::Failed { path: self.path.clone() }
    }
}

/// Where a transaction failed.
enum Failure {
    /// Nothing was handed to the disk as done.
    Before(Error),
    /// The commit itself failed.
    Commit(Error),
}

/// Writes parcels inside a transaction; takes back those that are refused.
fn put_each(
    transaction: &Transaction<'_>,
    path: &Path,
    parcels: &[&store::Parcel],
    whole: &HashSet<i64>,
    fresh: &mut Vec<i64>,
) -> Result<Vec<Result<store::Stored>>> {
    let fail = |error| fault::of("write", path, &error);
    let mut answers = Vec::with_capacity(parcels.len());
    for parcel in parcels {
        transaction.execute_batch("SAVEPOINT release").map_err(fail)?;
        let mark = fresh.len();
        let answer = store::put(transaction, path, parcel, whole, fresh);
        if !matches!(answer, Ok(store::Stored::Whole)) {
            transaction.execute_batch("ROLLBACK TO release").map_err(fail)?;
            fresh.truncate(mark);
        }
        transaction.execute_batch("RELEASE release").map_err(fail)?;
        match answer {
            Err(error) if !error.is_refusal() => return Err(error),
            answer => answers.push(answer),
        }
    }
    Ok(answers)
}

fn give_back(connection: &Connection, path: &Path) -> Result<()> {
    let run = || {
        // Each row is one page that went.
        let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
        let mut pages = vacuum.query([])?;
        while pages.next()?.is_some() {}
        // That a reader still needs the log is told in the answer, not as an error.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
    };
    match run().map_err(|error| fault::of("write", path, &error))? {
        true => Err(Error::Busy { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// Runs one transaction.
fn transact<T>(
    connection: &mut Connection,
    path: &Path,
    work: impl FnOnce(&Transaction<'_>) -> Result<T>,
) -> std::result::Result<T, Failure> {
    let fail = |error| fault::of("write", path, &error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail).map_err(Failure::Before)?;
    // Another process may have brought the file to a newer layout since it was opened.
    schema::layout(&transaction, path).map_err(Failure::Before)?;
    let done = work(&transaction).map_err(Failure::Before)?;
    transaction.commit().map_err(fail).map_err(Failure::Commit)?;
    Ok(done)
}
