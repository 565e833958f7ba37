import { type Signal, signal } from './signal.ts'

/** The colours of the page. */
export type Theme = 'system' | 'light' | 'dark'

/** The colours that the user chose. */
export const theme: Signal<Theme> = stored('theme', (text) => (text === 'light' || text === 'dark' ? text : 'system'))

const USER_KEY = 'toolwright:user'

/** The user that the page acts as: the one chosen, or the one of a link. */
export const userId: Signal<string> = signal(load(USER_KEY) || 'user')

let chosen = userId.value

/** The user that the page acts as without a link. */
export function chosenUser(): string {
  return chosen
}

/** Acts as a user. The browser remembers it, unlike the user of a link. */
export function chooseUser(name: string): void {
  chosen = name
  save(USER_KEY, name)
  userId.set(name)
}

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
