import { useEffect, useState } from 'preact/hooks'

/** Does a media query match? */
export function useMedia(query: string): boolean {
  const [list] = useState(() => matchMedia(query))
  const [matches, setMatches] = useState(list.matches)
  useEffect(() => {
    const update = (): void => setMatches(list.matches)
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [])
  return matches
}
