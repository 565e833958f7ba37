import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { getModelCall, type ModelCall } from '../api/calls.ts'
import type { SessionKey } from '../api/types.ts'
import { Differences } from '../requests/Changes.tsx'
import { differences } from '../requests/diff.ts'
import { formatDuration } from '../ui/format.ts'
import { previewJson } from '../ui/preview-json.ts'
import { PlainText, Section } from '../ui/Section.tsx'
import { Tokens } from '../ui/Tokens.tsx'
import { Tree } from '../ui/Tree.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { useLoaded } from './use-loaded.ts'

/** Props of a model call. */
export interface ModelCallDetailsProps {
  /** The session. */
  readonly sessionKey: SessionKey
  /** The event of the reply. */
  readonly eventId: string
}

/** What a model was asked for a reply, what it replied, and what changed since the request before. Read when it is shown. */
export function ModelCallDetails({ sessionKey, eventId }: ModelCallDetailsProps): JSX.Element {
  const { value: call, error } = useLoaded(() => getModelCall(sessionKey, eventId), [sessionKey.sessionId, eventId])
  if (!call) return <p class="muted">{error === undefined ? 'Loading…' : describeError(error)}</p>
  const { request, reply } = call
  const { systemInstruction, tools, ...settings } = request?.config ?? {}
  const { contents, leftOut = 0 } = request ?? {}
  return (
    <div class="model-call">
      <Facts call={call} />
      {call.origin !== undefined && <p class="field-hint">{visibleLine(call.origin)}</p>}
      {typeof systemInstruction === 'string' && (
        <Section title="Instruction" isOpen>
          <PlainText text={systemInstruction} />
        </Section>
      )}
      <Part title={leftOut > 0 ? `Messages, without the first ${leftOut}` : 'Messages'} value={contents} />
      <Part title="Tools" value={tools} />
      <Part title="Settings" value={request?.config && { model: call.model, ...settings }} />
      {request && (
        <Section title="Changes since the request before">
          <SinceBefore sessionKey={sessionKey} call={call} />
        </Section>
      )}
      <Part title="Reply" value={reply} />
    </div>
  )
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }): JSX.Element | null {
  if (value === undefined) return null
  return (
    <Section title={title} summary={previewJson(value)}>
      <Tree label={title} value={value} openLevels={4} />
    </Section>
  )
}

function Facts({ call }: { readonly call: ModelCall }): JSX.Element {
  const { model, stream, firstDeltaMs, totalMs, reply } = call
  const { finishReason, usageMetadata } = reply ?? {}
  const cost = usageMetadata?.cost
  return (
    <p class="byline">
      {model !== undefined && <strong>{visibleLine(model)}</strong>}
      <Tokens usage={usageMetadata} />
      {stream && firstDeltaMs !== undefined && <span>first token after {formatDuration(firstDeltaMs)}</span>}
      {totalMs !== undefined && <span>took {formatDuration(totalMs)}</span>}
      {typeof cost === 'number' && <span>cost {cost}</span>}
      {finishReason !== undefined && <span>finish reason {visibleLine(finishReason)}</span>}
    </p>
  )
}

interface SinceBeforeProps extends Pick<ModelCallDetailsProps, 'sessionKey'> {
  readonly call: ModelCall
}

/** What changed since the request before of the same agent, or of the same run. */
function SinceBefore({ sessionKey, call }: SinceBeforeProps): JSX.Element {
  const { previousId } = call
  const { value: before, error } = useLoaded(
    async () => (previousId === undefined ? null : await getModelCall(sessionKey, previousId)),
    [previousId],
  )
  const found = useMemo(() => (before ? differences(...comparable(before, call)) : []), [before, call])
  if (before === undefined) return <p class="muted">{error === undefined ? 'Loading…' : describeError(error)}</p>
  if (before === null) return <p class="field-hint">The first request of the run.</p>
  if (found.length === 0) return <p class="field-hint">The same request.</p>
  return (
    <Differences found={found} title={`Changed since the request of ${visibleLine(before.agent)} before:`} most={500} />
  )
}

/** Both requests, as far as both are known. */
function comparable(before: ModelCall, now: ModelCall): readonly [object, object] {
  const first = Math.max(before.request?.leftOut ?? 0, now.request?.leftOut ?? 0)
  const hasConfig = before.request?.config && now.request?.config
  const shown = ({ model, request }: ModelCall): object => ({
    ...(hasConfig && { ...request?.config, model }),
    messages: request?.contents.slice(first - request.leftOut),
  })
  return [shown(before), shown(now)]
}
