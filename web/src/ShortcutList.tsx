import type { JSX } from 'preact'
import { shortcuts } from './state/shortcuts.ts'
import { useSignal } from './state/signal.ts'
import { Dialog } from './ui/Dialog.tsx'

/** Keys of controls that are not shortcuts of the page. */
const FIXED = [
  { keys: 'Enter', label: 'Send the message' },
  { keys: 'Shift Enter', label: 'New line in the message' },
  { keys: 'Ctrl K', label: 'Find sessions, tools, agents and actions' },
  { keys: 'Esc', label: 'Close a dialog' },
  { keys: '← →', label: 'Move between tabs' },
]

/** The keyboard shortcuts that work now. */
export function ShortcutList({ onClose }: { onClose(): void }): JSX.Element {
  const all = [...useSignal(shortcuts), ...FIXED]
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {all.map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
