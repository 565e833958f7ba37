import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { InlineData as Media, Part } from '../../../src/core/content/content.ts'
import { describeError } from '../api/api-error.ts'
import { getArtifact, listArtifacts, listVersions } from '../api/artifacts.ts'
import type { SessionLog } from '../session/session-log.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { FilePreview } from '../ui/FilePreview.tsx'
import { Icon } from '../ui/Icon.tsx'
import { bytesOf, mediaKind } from '../ui/safe-media.ts'
import { Tree } from '../ui/Tree.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'

/** The artifacts of the session, their versions and a preview. */
export function ArtifactPanel({ log }: SessionTabProps): JSX.Element {
  const { entries } = useSignal(log.view)
  const [names, setNames] = useState<readonly string[] | Error>()
  const [chosen, setChosen] = useState<string>()
  useEffect(() => {
    const controller = new AbortController()
    listArtifacts(log.key, controller.signal).then(setNames, (error: unknown) => {
      if (!controller.signal.aborted) setNames(error instanceof Error ? error : new Error(String(error)))
    })
    return () => controller.abort()
  }, [log, entries, useSignal(server)])
  if (names === undefined) return <p class="empty">Loading…</p>
  if (names instanceof Error) return <p class="empty">{describeError(names)}</p>
  if (names.length === 0) return <p class="empty">This session has no artifacts.</p>
  const name = names.find((one) => one === chosen) ?? names[0] ?? ''
  return (
    <div class="artifacts">
      <ul class="artifact-names" aria-label="Artifacts">
        {names.map((one) => (
          <li key={one}>
            <button type="button" aria-pressed={one === name} onClick={() => setChosen(one)}>
              <Icon name="file" />
              <span>{visibleLine(one)}</span>
            </button>
          </li>
        ))}
      </ul>
      <Versions key={name} log={log} filename={name} />
    </div>
  )
}

interface VersionsProps {
  readonly log: SessionLog
  readonly filename: string
}

function Versions({ log, filename }: VersionsProps): JSX.Element {
  const { entries } = useSignal(log.view)
  const [versions, setVersions] = useState<readonly number[]>([])
  const [chosen, setChosen] = useState<number>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    listVersions(log.key, filename).then(setVersions, (error: unknown) => setProblem(describeError(error)))
  }, [log, filename, entries])
  const version = chosen ?? versions.at(-1)
  return (
    <section class="artifact" aria-label="Artifact">
      <div class="inspect-bar">
        <h2>{visibleLine(filename)}</h2>
        {version !== undefined && (
          <label>
            <span class="muted">Version</span>
            <select value={version} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {versions.toReversed().map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {problem !== '' && <p class="field-issue">{problem}</p>}
      {version !== undefined && <Content key={version} log={log} filename={filename} version={version} />}
    </section>
  )
}

function Content({ log, filename, version }: VersionsProps & { readonly version: number }): JSX.Element {
  const [part, setPart] = useState<Part | Error>()
  useEffect(() => {
    getArtifact(log.key, { filename, version }).then(setPart, setPart)
  }, [])
  if (part === undefined) return <p class="muted">Loading…</p>
  if (part instanceof Error) return <p class="field-issue">{describeError(part)}</p>
  const media = part.inlineData ?? (part.text === undefined ? undefined : textMedia(part.text))
  if (!media) return <Tree label="Artifact" value={part} />
  return (
    <>
      <FilePreview media={media} name={filename} />
      {mediaKind(media.mimeType) === 'document' && <Source media={media} />}
    </>
  )
}

const MOST_TEXT = 100_000

/** HTML, SVG and XML as text. */
function Source({ media }: { readonly media: Media }): JSX.Element {
  return (
    <details>
      <summary>Source</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard */}
      <pre class="file-text" tabIndex={0}>
        {visibleText(new TextDecoder().decode(bytesOf(media).subarray(0, MOST_TEXT)))}
      </pre>
    </details>
  )
}

function textMedia(text: string): Media {
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return { mimeType: 'text/plain', data: btoa(binary) }
}
