import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isRecord } from '../../../src/core/base/json.ts'
import { Icon } from './Icon.tsx'
import { VisibleText } from './VisibleText.tsx'
import { visibleLine } from './visible-text.ts'

/** Props of a tree. */
export interface TreeProps {
  /** The JSON value. */
  readonly value: unknown
  /** Names the tree for screen readers. */
  readonly label: string
  /** How many levels are open. Default 2. */
  readonly openLevels?: number | undefined
  /** Shows everything, however long it is. For values that a user approves. */
  readonly isComplete?: boolean | undefined
}

/** A long list or text is shown in steps of this size. */
const CHILDREN = 100
const CHARACTERS = 2000
const MOST_LEVELS = 200

/** A JSON value as a tree that can be opened and closed. */
export function Tree({ value, label, openLevels = 2, isComplete = false }: TreeProps): JSX.Element {
  return (
    <figure class="tree" aria-label={label}>
      <Root value={value} level={0} openLevels={isComplete ? MOST_LEVELS : openLevels} isComplete={isComplete} />
    </figure>
  )
}

/** The members of the value itself are always shown. */
function Root(props: NodeProps): JSX.Element {
  const children = childrenOf(props.value)
  if (!children || children.length === 0) return <Node {...props} />
  return <Children {...props} nodes={children} />
}

interface NodeProps {
  readonly name?: string | undefined
  readonly value: unknown
  readonly level: number
  readonly openLevels: number
  readonly isComplete: boolean
}

function Node({ name, value, level, openLevels, isComplete }: NodeProps): JSX.Element {
  const children = childrenOf(value)
  if (!children || children.length === 0 || level > MOST_LEVELS)
    return (
      <div class="tree-row">
        <Name name={name} />
        <Leaf value={value} isComplete={isComplete} isTooDeep={level > MOST_LEVELS} />
      </div>
    )
  return <Branch name={name} value={value} nodes={children} {...{ level, openLevels, isComplete }} />
}

interface BranchProps extends NodeProps {
  readonly nodes: readonly (readonly [string, unknown])[]
}

function Branch(props: BranchProps): JSX.Element {
  const { name, value, nodes, level, openLevels } = props
  const [isOpen, setOpen] = useState(level < openLevels)
  const size = Array.isArray(value) ? `[${nodes.length}]` : `{${nodes.length}}`
  return (
    <div class="tree-branch">
      <button type="button" class="tree-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="chevron" />
        <Name name={name} />
        <span class="tree-size">{isOpen ? size : summaryOf(value, size)}</span>
      </button>
      {isOpen && (
        <div class="tree-children">
          <Children {...props} />
        </div>
      )}
    </div>
  )
}

function Children({ nodes, level, openLevels, isComplete }: BranchProps): JSX.Element {
  const [shown, setShown] = useState(isComplete ? Number.POSITIVE_INFINITY : CHILDREN)
  return (
    <>
      {nodes.slice(0, shown).map(([key, child]) => (
        <Node key={key} name={key} value={child} level={level + 1} {...{ openLevels, isComplete }} />
      ))}
      {nodes.length > shown && (
        <button type="button" class="tree-more" onClick={() => setShown(shown + CHILDREN)}>
          Show {Math.min(CHILDREN, nodes.length - shown)} more of {nodes.length - shown}
        </button>
      )}
    </>
  )
}

function Name({ name }: { readonly name: string | undefined }): JSX.Element | null {
  if (name === undefined) return null
  return (
    <span class="tree-name">
      <VisibleText text={visibleLine(name)} />
    </span>
  )
}

interface LeafProps {
  readonly value: unknown
  readonly isComplete: boolean
  readonly isTooDeep: boolean
}

function Leaf({ value, isComplete, isTooDeep }: LeafProps): JSX.Element {
  const [shown, setShown] = useState(isComplete ? Number.POSITIVE_INFINITY : CHARACTERS)
  if (typeof value !== 'string') {
    const kind = value === null ? 'null' : typeof value
    const text = isTooDeep ? safeJson(value) : Array.isArray(value) ? '[]' : isRecord(value) ? '{}' : String(value)
    return <span class={`tree-value ${kind}`}>{text}</span>
  }
  if (value === '') return <span class="tree-value empty">empty text</span>
  const isBlock = value.includes('\n')
  return (
    <span class={isBlock ? 'tree-value string block' : 'tree-value string'}>
      <VisibleText text={value.length > shown ? value.slice(0, shown) : value} />
      {value.length > shown && (
        <button type="button" class="tree-more" onClick={() => setShown(shown * 10)}>
          Show more, {value.length - shown} characters are left
        </button>
      )}
    </span>
  )
}

function childrenOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (Array.isArray(value)) return value.map((child, at) => [String(at), child] as const)
  return isRecord(value) ? Object.entries(value) : undefined
}

/** A closed branch: its first members, so that small values can be read without opening them. */
function summaryOf(value: unknown, size: string): string {
  if (!isRecord(value)) return size
  const names = Object.keys(value).slice(0, 4).map(visibleLine).join(', ')
  return `${size} ${names.length > 60 ? `${names.slice(0, 60)}…` : names}`
}

function safeJson(value: unknown): string {
  try {
    return visibleLine(JSON.stringify(value) ?? 'undefined')
  } catch {
    return 'nested too deeply to show'
  }
}
