import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { Tree } from '../ui/Tree.tsx'
import { lookalikeWords, visibleText } from '../ui/visible-text.ts'

/** A value that a user approves: complete, with hidden characters shown and deceptive words named. */
export function ExactValue({ value, label }: { readonly value: unknown; readonly label: string }): JSX.Element {
  const { hasHidden, words, lines } = useMemo(() => inspect(value), [value])
  return (
    <div class="exact-value">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled with the keyboard */}
      <section class="exact-scroll" tabIndex={0} aria-label={label}>
        <Tree value={value} label={label} isComplete />
      </section>
      {lines > 30 && <p class="field-hint">{lines} lines. Scroll to read all of them.</p>}
      {hasHidden && <p class="warning">This contains characters that cannot be seen. They are shown as ⟨U+…⟩.</p>}
      {words.length > 0 && (
        <p class="warning">These words mix alphabets or use lookalike letters: {words.map(visibleText).join('; ')}</p>
      )}
    </div>
  )
}

function inspect(value: unknown): { hasHidden: boolean; words: readonly string[]; lines: number } {
  const texts: string[] = []
  collect(value, texts, 0)
  const text = texts.join('\n')
  return { hasHidden: visibleText(text) !== text, words: lookalikeWords(text), lines: text.split('\n').length }
}

const MOST_LEVELS = 200

function collect(value: unknown, texts: string[], level: number): void {
  if (typeof value === 'string') texts.push(value)
  if (typeof value !== 'object' || value === null || level > MOST_LEVELS) return
  for (const [key, child] of Object.entries(value)) {
    if (!Array.isArray(value)) texts.push(key)
    collect(child, texts, level + 1)
  }
}
