//! Which request of the protocol is answered by what? The table of them; finds and writes nothing itself.

use std::sync::Arc;

use liveset_archive::{SessionMark, SqliteArchive};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ResourceContents, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use tokio::sync::Semaphore;

use crate::{
    arguments::{self, RECALL, SEARCH},
    listing::Answer,
    open_views::OpenViews,
    recall_tool, search_tool, sessions,
};

/// What clients may show their model about this server.
const INSTRUCTIONS: &str = "Tool output that was pruned from context is kept here. A marker such as `[pruned from \
     context: …]` may name an id: `recall` gives that output back, `search` finds it by its words. An answer that \
     something is not here is final.";

/// An MCP server over one archive, in the scope of that handle.
///
/// ```
/// use std::sync::Arc;
/// use liveset_archive::SqliteArchive;
/// use liveset_mcp::Server;
///
/// let folder = tempfile::tempdir()?;
/// let server = Server::new(Arc::new(SqliteArchive::open(folder.path().join("archive.db"))?));
/// assert_eq!(server.tool_names(), ["recall", "search"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Server {
    archive: Arc<SqliteArchive>,
    /// Shared by all clients: what one may read, each may.
    views: Arc<OpenViews>,
    reads: Arc<Semaphore>,
}

/// Reads of the archive at one time; each may hold an original, of up to 256 MiB, twice. Others wait.
const MAX_READS: usize = 4;

impl Server {
    /// Makes a server that answers from an archive.
    #[must_use]
    pub fn new(archive: Arc<SqliteArchive>) -> Self {
        Self { archive, views: Arc::default(), reads: Arc::new(Semaphore::new(MAX_READS)) }
    }

    /// Names the tools.
    #[must_use]
    pub fn tool_names(&self) -> [&'static str; 2] {
        [RECALL, SEARCH]
    }

    /// Reads the archive on a thread that may wait for a disk.
    async fn read<A: Send + 'static>(
        &self,
        read: impl FnOnce(&SqliteArchive) -> A + Send + 'static,
    ) -> Result<A, ErrorData> {
        let failed = |why: String| ErrorData::internal_error(format!("the archive could not be read: {why}"), None);
        let permit = self.reads.clone().acquire_owned().await.map_err(|error| failed(error.to_string()))?;
        let archive = self.archive.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            read(&archive)
        });
        done.await.map_err(|error| failed(error.to_string()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(Implementation::new("liveset", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(arguments::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments;
        let answer = match request.name.as_ref() {
            RECALL => match arguments::read(given) {
                Ok(asked) => {
                    let views = self.views.clone();
                    self.read(move |archive| recall_tool::answer(archive, &views, &asked)).await?
                }
                Err(why) => Answer::error(why),
            },
            SEARCH => match arguments::read(given) {
                Ok(asked) => self.read(move |archive| search_tool::answer(archive, asked)).await?,
                Err(why) => Answer::error(why),
            },
            _ => return Err(ErrorData::invalid_params(format!("the tools are `{RECALL}` and `{SEARCH}`"), None)),
        };
        let content = vec![ContentBlock::text(answer.text)];
        let result = if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor).map(|cursor| cursor.parse());
        let unknown = |_| ErrorData::invalid_params("no list gave this cursor".to_owned(), None);
        let after: Option<SessionMark> = cursor.transpose().map_err(unknown)?;
        let page = self.read(move |archive| archive.sessions_after(after, sessions::PAGE)).await?.map_err(failed)?;
        let mut listed = ListResourcesResult::with_all_items(page.rows.iter().map(sessions::resource).collect());
        listed.next_cursor = page.next.map(|mark| mark.to_string());
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing = || ErrorData::resource_not_found("no such session here".to_owned(), None);
        let session = sessions::name(&request.uri).ok_or_else(missing)?;
        let text = self.read(move |archive| sessions::text(archive, &session)).await?.map_err(failed)?;
        let contents = ResourceContents::text(text.ok_or_else(missing)?, request.uri).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn failed(error: liveset_archive::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
