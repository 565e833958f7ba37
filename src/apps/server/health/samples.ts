// The text format of Prometheus.

/** The labels of one sample. */
type SampleLabels = { readonly [label: string]: string | undefined }

/** What a metric is called, and what it measures. */
interface SampleFacts {
  /** The name. */
  readonly name: string
  /** What it measures. */
  readonly help: string
}

/** Counts values by their labels, and into buckets. */
export class HistogramSamples {
  readonly #facts: SampleFacts
  readonly #bounds: readonly number[]
  readonly #byLabels: Map<string, { count: number; sum: number; readonly buckets: number[] }> = new Map()

  constructor(facts: SampleFacts, bounds: readonly number[]) {
    this.#facts = facts
    this.#bounds = bounds
  }

  /** Counts a value. The labels are written already, as `labelsOf()` does. */
  record(value: number, labels: string): void {
    let counted = this.#byLabels.get(labels)
    if (!counted) {
      counted = { count: 0, sum: 0, buckets: this.#bounds.map(() => 0) }
      this.#byLabels.set(labels, counted)
    }
    counted.count++
    counted.sum += value
    for (let at = 0; at < this.#bounds.length; at++)
      if (value <= (this.#bounds[at] as number)) counted.buckets[at] = (counted.buckets[at] ?? 0) + 1
  }

  /** The lines of all values. */
  *lines(): Iterable<string> {
    const { name } = this.#facts
    yield* headerLines(this.#facts, 'histogram')
    for (const [labels, { count, sum, buckets }] of this.#byLabels) {
      const before = labels === '' ? '' : `${labels},`
      for (const [at, bound] of this.#bounds.entries()) yield `${name}_bucket{${before}le="${bound}"} ${buckets[at]}`
      yield `${name}_bucket{${before}le="+Inf"} ${count}`
      const braces = labels === '' ? '' : `{${labels}}`
      yield `${name}_sum${braces} ${sum}`
      yield `${name}_count${braces} ${count}`
    }
  }
}

/** The lines of a counter or a gauge without labels. */
export function* valueLines(facts: SampleFacts, type: 'counter' | 'gauge', value: number): Iterable<string> {
  yield* headerLines(facts, type)
  yield `${facts.name} ${value}`
}

function* headerLines({ name, help }: SampleFacts, type: 'counter' | 'gauge' | 'histogram'): Iterable<string> {
  yield `# HELP ${name} ${help}`
  yield `# TYPE ${name} ${type}`
}

/** Labels as Prometheus writes them. */
export function labelsOf(labels: SampleLabels): string {
  const written: string[] = []
  for (const [label, value] of Object.entries(labels))
    if (value !== undefined) written.push(`${toName(label)}="${escapeLabel(value)}"`)
  return written.join(',')
}

/** A name as Prometheus writes it: without dots. */
export function toName(name: string): string {
  return name.replaceAll('.', '_')
}

/** The value of a label, within its quotes. */
export function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
