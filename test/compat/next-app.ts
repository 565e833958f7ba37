// A Next.js app that uses the package in a Node route, in an edge route and in the browser.
import { AGENT, QUICKJS } from './programs.ts'

const layout = `export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html> }`

const page = `'use client'
import { useEffect, useState } from 'react'
import { ask } from '../agent.js'
export default function Page() {
  const [text, setText] = useState('')
  useEffect(() => void ask().then(setText), [])
  return <p>{text}</p>
}`

const edge = `import { ask } from '../../agent.js'
export const runtime = 'edge'
export const dynamic = 'force-dynamic'
export const GET = async () => new Response(await ask())`

const node = `import { ask } from '../../agent.js'
import { compute } from '../../quickjs.js'
export const dynamic = 'force-dynamic'
export const GET = async () => new Response(await ask() + ' ' + await compute())`

/** Starts the built server, requests both routes and prints their responses. */
const serve = `import { spawn } from 'node:child_process'
const next = ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', '3911']
const server = spawn(process.execPath, next, { stdio: ['ignore', 'pipe', 'inherit'] })
await new Promise((resolve, reject) => {
  server.stdout.on('data', (data) => String(data).includes('Ready') && resolve())
  server.on('exit', () => reject(new Error('the server ended')))
})
for (const path of ['edge', 'node']) console.log(await (await fetch('http://127.0.0.1:3911/' + path)).text())
server.kill()`

export const NEXT_APP: Readonly<Record<string, string>> = {
  'agent.js': AGENT,
  'quickjs.js': QUICKJS,
  'app/layout.jsx': layout,
  'app/page.jsx': page,
  'app/edge/route.js': edge,
  'app/node/route.js': node,
  'next.config.mjs': 'export default { turbopack: { root: import.meta.dirname } }',
  'serve.mjs': serve,
}
