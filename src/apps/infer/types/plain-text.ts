/** The text of a comment as a model reads it: `{@link getWeather}` becomes `getWeather`, and lines end alike on all systems. */
export function plainText(comment: string): string {
  const link = /\{@link(?:code|plain)?\s+([^\s|}]+)\s*\|?\s*([^}]*)\}/g
  return comment
    .replaceAll('\r\n', '\n')
    .replace(link, (_, target: string, text: string) => text.trim() || target)
    .trim()
}
