import type { JSX } from 'preact'
import { sessionList } from '../sessions/session-list.ts'
import { useSignal } from '../state/signal.ts'
import { Tree } from '../ui/Tree.tsx'
import { describeVariant, variantsOf } from './variant.ts'

/** Says that a session is a what-if copy, and what it changes. */
export function WhatIfNote({ sessionId }: { readonly sessionId: string }): JSX.Element | null {
  const { sessions = [], open } = useSignal(sessionList)
  const variants = variantsOf([...sessions, open].find((session) => session?.id === sessionId))
  if (variants.length === 0) return null
  return (
    <details class="what-if warning">
      <summary>What-if copy: {variants.map(describeVariant).join('; ')}</summary>
      <Tree label="What is different" value={variants} openLevels={3} />
    </details>
  )
}
