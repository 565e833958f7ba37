import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { Time } from '../ui/Time.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { type Difference, differences, MOST_DIFFERENCES } from './diff.ts'
import type { PreviousRequest } from './previous-request.ts'

/** Props of the list of changes. */
export interface ChangesProps {
  /** The request before; undefined if there is none. */
  readonly previous: PreviousRequest | undefined
  /** The arguments now. */
  readonly args: unknown
}

/** Props of the list of edits. */
export interface EditsProps {
  /** What was asked before. */
  readonly requested: { readonly hint?: string | undefined; readonly args: unknown }
  /** What is asked now; without a hint while the tool is asked for it. */
  readonly edited: { readonly hint: string | undefined; readonly args: unknown }
}

/** What the approver has changed in the arguments of the request, and in the question with them. */
export function Edits({ requested, edited }: EditsProps): JSX.Element {
  const found = useMemo(() => differences(requested.args, edited.args), [requested.args, edited.args])
  if (found.length === 0) return <p class="field-hint">You changed nothing.</p>
  const isReworded = edited.hint !== undefined && edited.hint !== requested.hint
  const question = { path: 'question', before: requested.hint, after: edited.hint }
  return <Differences found={isReworded ? [question, ...found] : found} title="You changed:" />
}

/** What has changed since the request before for the same tool. */
export function Changes({ previous, args }: ChangesProps): JSX.Element {
  const found = useMemo(() => (previous ? differences(previous.args, args) : []), [previous, args])
  if (!previous) return <p class="field-hint">First request for this tool in this session.</p>
  const since = (
    <>
      {previous.isSameCall ? 'the approval of this call' : 'the last request for this tool'},{' '}
      <Time seconds={previous.createdAt} />
    </>
  )
  if (found.length === 0) return <p class="field-hint">The same arguments as in {since}.</p>
  return <Differences found={found} title={<>Changed since {since}:</>} />
}

/** Props of a list of differences. */
export interface DifferencesProps {
  /** The differences. */
  readonly found: readonly Difference[]
  /** What is above them. */
  readonly title: ComponentChildren
  /** The most characters of a value. Default: all, because a user approves them. */
  readonly most?: number | undefined
}

/** Where two values differ, with both sides. */
export function Differences({ found, title, most }: DifferencesProps): JSX.Element {
  return (
    <section class="changes" aria-label="Changes">
      <p class="field-hint">{title}</p>
      <ul>
        {found.slice(0, MOST_DIFFERENCES).map(({ path, before, after }) => (
          <li key={path}>
            <span class="change-path">{visibleLine(path) || 'arguments'}</span>
            <Side kind="del" value={before} most={most} />
            <Side kind="ins" value={after} most={most} />
          </li>
        ))}
      </ul>
      {found.length > MOST_DIFFERENCES && <p class="field-hint">There are more changes.</p>}
    </section>
  )
}

interface SideProps extends Pick<DifferencesProps, 'most'> {
  readonly kind: 'del' | 'ins'
  readonly value: unknown
}

function Side({ kind, value, most = Number.POSITIVE_INFINITY }: SideProps): JSX.Element | null {
  if (value === undefined) return null
  const Name = kind
  const text = JSON.stringify(value)
  return (
    <Name>
      <VisibleText text={text.length > most ? `${text.slice(0, most)}…` : text} />
    </Name>
  )
}
