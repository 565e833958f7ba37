import { type Signal, signal } from './signal.ts'

/** The colours of the page. */
export type Theme = 'system' | 'light' | 'dark'

/** The colours that the user chose. */
export const theme: Signal<Theme> = stored('theme', (text) => (text === 'light' || text === 'dark' ? text : 'system'))

/** The user that the page acts as. */
export const userId: Signal<string> = stored('user', (text) => text || 'user')

theme.watch(applyTheme)
applyTheme()

function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value
}

/** A signal that the browser remembers. */
function stored<T extends string>(name: string, read: (text: string) => T): Signal<T> {
  const key = `toolwright:${name}`
  const value = signal(read(load(key)))
  value.watch(() => save(key, value.value))
  return value
}

function load(key: string): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return '' // storage is off
  }
}

function save(key: string, text: string): void {
  try {
    localStorage.setItem(key, text)
  } catch {
    // storage is off: the choice lasts until the page is closed
  }
}
