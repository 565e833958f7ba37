import type { Operation } from './operation.ts'

/**
 * What an observer keeps of operations, for as long as they are referenced: an operation may outlive the one around it, such as a tool in the
 * background. A WeakMap would do the same, and take a sixth of the time of a traced turn: V8 makes and collects its entries slowly.
 */
export class OperationNotes<T> {
  /** Each observer has its own member of an operation. */
  readonly #key: symbol = Symbol('notes')

  /** What is kept of an operation. */
  get(operation: Operation): T | undefined {
    return (operation as Noted<T>)[this.#key]
  }

  /** Keeps something of an operation. */
  set(operation: Operation, notes: T): void {
    const noted = operation as Noted<T>
    noted[this.#key] = notes
  }
}

type Noted<T> = Operation & { [key: symbol]: T | undefined }
