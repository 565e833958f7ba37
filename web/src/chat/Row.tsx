import type { ComponentChildren, ComponentType, JSX } from 'preact'
import { MessageCopyMenu } from '../copy/CopyMenu.tsx'
import type { SessionLog } from '../session/session-log.ts'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Markdown } from '../ui/Markdown.tsx'
import { memo } from '../ui/memo.ts'
import { Time } from '../ui/Time.tsx'
import { Tokens } from '../ui/Tokens.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'
import { ArtifactNote } from './ArtifactNote.tsx'
import { CallCard } from './CallCard.tsx'
import { MediaPart } from './MediaPart.tsx'
import type { ChatRow, TextRow } from './rows.ts'
import { SignInNote } from './SignInNote.tsx'
import { UserMessage } from './UserMessage.tsx'

/** Props of a row. */
export interface RowProps {
  /** The row. */
  readonly row: ChatRow
  /** The session. */
  readonly log: SessionLog
  /** The progress of a call that is running. */
  readonly progress: unknown
}

/** One row of the conversation. */
export const Row: ComponentType<RowProps> = memo(function Row({ row, log, progress }: RowProps) {
  return (
    <div class={`row column ${row.type}`}>
      {row.imported && <ImportedTag />}
      {contents(row, log, progress)}
    </div>
  )
})

function contents(row: ChatRow, log: SessionLog, progress: unknown): ComponentChildren {
  switch (row.type) {
    case 'user':
      return <UserMessage row={row} log={log} />
    case 'text':
      return row.isThought ? <Thought row={row} /> : <Reply row={row} log={log} />
    case 'call':
      return row.call.kind === 'toolset' ? (
        <SignInNote call={row.call} sessionKey={log.key} />
      ) : (
        <CallCard call={row.call} sessionKey={log.key} progress={progress} />
      )
    case 'media':
      return <MediaPart part={row.part} />
    case 'code':
      return <CodeBlock code={visibleText(row.code.code)} language={row.code.language} />
    case 'output':
      return <CodeBlock code={visibleText(row.output.output ?? row.output.outcome)} language="output" />
    case 'artifact':
      return <ArtifactNote {...{ sessionKey: log.key, filename: row.filename, version: row.version }} />
    case 'note':
      return <p class="note">{visibleLine(row.text)}</p>
    case 'error':
      return <ErrorNote code={row.code} message={row.message} />
  }
}

function ImportedTag(): JSX.Element {
  return (
    <p class="byline">
      <span class="tag" title="A client imported this. It did not happen in this app.">
        imported
      </span>
    </p>
  )
}

function Reply({ row, log }: { readonly row: TextRow; readonly log: SessionLog }): JSX.Element {
  return (
    <article class="reply" aria-busy={row.isStreaming}>
      <p class="byline">
        <strong>{visibleLine(row.author)}</strong>
        <Time seconds={row.timestamp} />
        <Tokens usage={row.usage} />
        {!row.isStreaming && <MessageCopyMenu eventId={row.eventId} log={log} text={row.text} />}
      </p>
      <Markdown text={row.text} />
    </article>
  )
}

function Thought({ row }: { readonly row: TextRow }): JSX.Element {
  return (
    <details class="thought">
      <summary>{row.isStreaming ? 'Thinking…' : `Thinking of ${visibleLine(row.author)}`}</summary>
      <Markdown text={row.text} />
    </details>
  )
}

function ErrorNote({ code, message }: { readonly code: string; readonly message: string }): JSX.Element {
  return (
    <p class="problem">
      <Icon name="warning" />
      <span>
        <strong>{visibleLine(code)}</strong> {visibleText(message)}
      </span>
    </p>
  )
}
