import type { ComponentChildren, ComponentType, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ModelCallDetails } from '../calls/ModelCallDetails.tsx'
import { MessageCopyMenu } from '../copy/CopyMenu.tsx'
import type { SessionLog } from '../session/session-log.ts'
import { Button } from '../ui/Button.tsx'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Markdown } from '../ui/Markdown.tsx'
import { memo } from '../ui/memo.ts'
import { Section } from '../ui/Section.tsx'
import { Time } from '../ui/Time.tsx'
import { Tokens } from '../ui/Tokens.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'
import { ArtifactNote } from './ArtifactNote.tsx'
import { CallCard } from './CallCard.tsx'
import { MediaPart } from './MediaPart.tsx'
import type { CallRow, ChatRow, ErrorRow, TextRow } from './rows.ts'
import { SignInNote } from './SignInNote.tsx'
import { UserMessage } from './UserMessage.tsx'

/** Props of a row. */
export interface RowProps {
  /** The row. */
  readonly row: ChatRow
  /** The session. */
  readonly log: SessionLog
  /** What streams in the rows of calls, by call id. Undefined if nothing streams in this row. */
  readonly live: LiveRows | undefined
}

/** What streams in a call: the progress of its tool, and the text of the agent inside it. */
export interface LiveCall {
  /** The latest progress. */
  progress?: unknown
  /** The text. */
  readonly rows: TextRow[]
}

/** What streams in calls, by call id. */
export type LiveRows = ReadonlyMap<string, LiveCall>

/** One row of the conversation. */
export const Row: ComponentType<RowProps> = memo(function Row({ row, log, live }: RowProps) {
  return (
    <div class={`row column ${row.type}`}>
      {row.imported && <ImportedTag />}
      {contents(row, log, live)}
    </div>
  )
})

function contents(row: ChatRow, log: SessionLog, live: LiveRows | undefined): ComponentChildren {
  switch (row.type) {
    case 'user':
      return <UserMessage row={row} log={log} />
    case 'text':
      return row.isThought ? <Thought row={row} /> : <Reply row={row} log={log} />
    case 'call':
      return row.call.kind === 'toolset' ? (
        <SignInNote call={row.call} sessionKey={log.key} />
      ) : (
        <CallRowCard row={row} log={log} live={live} />
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
      return <ErrorNote row={row} log={log} />
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

/** How many steps of an agent inside a call are drawn at first, and more at a time. */
const STEPS = 50

interface CallRowCardProps extends Omit<RowProps, 'row'> {
  readonly row: CallRow
}

/** A call, with the steps of the agent that it runs inside its card. */
function CallRowCard({ row, log, live }: CallRowCardProps): JSX.Element {
  const [most, setMost] = useState(STEPS)
  const { call, media, inner } = row
  const own = live?.get(call.id)
  const rows = [...inner, ...(own?.rows ?? [])]
  return (
    <CallCard call={call} sessionKey={log.key} progress={own?.progress} media={media}>
      {rows.length > 0 && (
        <Section title={`Steps inside (${rows.length})`} isOpen={!call.response}>
          {rows.slice(0, most).map((one) => (
            <Row key={one.key} row={one} log={log} live={live} />
          ))}
          {rows.length > most && <Button onClick={() => setMost(most + STEPS)}>Show more steps</Button>}
        </Section>
      )}
    </CallCard>
  )
}

function Reply({ row, log }: { readonly row: TextRow; readonly log: SessionLog }): JSX.Element {
  const [showsCall, setShowsCall] = useState(false)
  const { replyId } = row
  return (
    <article class="reply" aria-busy={row.isStreaming}>
      <p class="byline">
        <strong>{visibleLine(row.author)}</strong>
        <Time seconds={row.timestamp} />
        <Tokens usage={row.usage} />
        {replyId !== undefined && !row.imported && (
          <Button
            class="small"
            icon="file"
            kind="plain"
            label="Model call"
            aria-expanded={showsCall}
            onClick={() => setShowsCall(!showsCall)}
          />
        )}
        {!row.isStreaming && <MessageCopyMenu eventId={row.eventId} log={log} text={row.text} />}
      </p>
      {showsCall && replyId !== undefined && <ModelCallDetails sessionKey={log.key} eventId={replyId} />}
      <Markdown text={row.text} />
    </article>
  )
}

function Thought({ row }: { readonly row: TextRow }): JSX.Element {
  return (
    <details class="thought">
      <summary>{row.isStreaming ? 'Thinking…' : `Thoughts · ${visibleLine(row.author)}`}</summary>
      <Markdown text={row.text} />
    </details>
  )
}

function ErrorNote({ row, log }: { readonly row: ErrorRow; readonly log: SessionLog }): JSX.Element {
  const { code, message, replyId } = row
  return (
    <>
      <p class="problem">
        <Icon name="warning" />
        <span>
          <strong>{visibleLine(code)}</strong> {visibleText(message)}
        </span>
      </p>
      {replyId !== undefined && (
        <Section title="Model call">
          <ModelCallDetails sessionKey={log.key} eventId={replyId} />
        </Section>
      )}
    </>
  )
}
