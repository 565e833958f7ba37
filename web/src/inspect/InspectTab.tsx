import './inspect.css'
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { SessionTabProps } from '../session/session-tab.ts'
import { type Route, route } from '../state/route.ts'
import { type Tab, Tabs } from '../ui/Tabs.tsx'
import { AgentPanel } from './AgentPanel.tsx'
import { ArtifactPanel } from './ArtifactPanel.tsx'
import { LogPanel } from './LogPanel.tsx'
import { MemoryPanel } from './MemoryPanel.tsx'
import { StatePanel } from './StatePanel.tsx'

type Part = 'agents' | 'state' | 'artifacts' | 'memory' | 'log'

const PARTS: readonly Tab<Part>[] = [
  { id: 'agents', label: 'Agents' },
  { id: 'state', label: 'State' },
  { id: 'artifacts', label: 'Artifacts' },
  { id: 'memory', label: 'Memory' },
  { id: 'log', label: 'Log' },
]

/** The part that was shown last, also in another session. */
let last: Part = 'agents'

/** The Inspect tab of a session: its agents, state, artifacts, memory and log. */
export function InspectTab({ log }: SessionTabProps): JSX.Element {
  const [part, setPart] = useState(() => (atOf(route.value) === undefined ? last : 'log'))
  const panelId = useId()
  const show = (id: Part): void => {
    last = id
    setPart(id)
  }
  return (
    <div class="inspect">
      <Tabs label="Inspect" tabs={PARTS} value={part} panelId={panelId} onChange={show} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the panel is scrolled with the keyboard */}
      <div class="inspect-panel" role="tabpanel" id={panelId} aria-label={part} tabIndex={0}>
        <Panel part={part} log={log} />
      </div>
    </div>
  )
}

/** An address that names an entry shows the log. */
function atOf(route: Route): string | undefined {
  return route.view === 'session' ? route.at : undefined
}

function Panel({ part, log }: SessionTabProps & { readonly part: Part }): JSX.Element {
  switch (part) {
    case 'agents':
      return <AgentPanel log={log} />
    case 'state':
      return <StatePanel log={log} />
    case 'artifacts':
      return <ArtifactPanel log={log} />
    case 'memory':
      return <MemoryPanel log={log} />
    case 'log':
      return <LogPanel log={log} />
  }
}
