// What JavaScript code finds in QuickJS besides the language itself. It runs inside, with no more rights than the code
// has: all it knows of us are the functions it is given, which take and give text and bytes. Text crosses as JSON, which
// is the only form in which every string survives.

export const prelude: string = String.raw`(function (host) {
  'use strict'
  const { parse, stringify } = JSON

  const MAX_ITEMS = 1000
  const MAX_DEPTH = 6
  const MAX_PLACES = 10

  const list = (indent, open, items, close) => {
    if (items.length === 0) return open + close
    const line = open + ' ' + items.join(', ') + ' ' + close
    if (line.length <= 100) return line
    return open + items.map((text) => '\n' + indent + '  ' + text).join(',') + '\n' + indent + close
  }

  const some = (all, show) => {
    const shown = []
    for (const one of all) {
      if (shown.length === MAX_ITEMS) return [...shown, '...']
      shown.push(show(one))
    }
    return shown
  }

  const show = (value, above = []) => {
    if (typeof value === 'string') return above.length === 0 ? value : stringify(value)
    if (typeof value === 'bigint') return value + 'n'
    if (typeof value === 'function') return '[Function' + (value.name ? ': ' + value.name : '') + ']'
    if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
    return above.includes(value) ? '[Circular]' : showObject(value, [...above, value])
  }

  const showObject = (value, above) => {
    const item = (one) => show(one, above)
    const indent = '  '.repeat(above.length - 1)
    if (value instanceof Error) return explain(value)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof RegExp) return String(value)
    if (value instanceof Promise) return 'Promise'
    if (above.length > MAX_DEPTH) return Array.isArray(value) ? '[Array]' : '[Object]'
    if (Array.isArray(value)) return list(indent, '[', some(value, item), ']')
    if (value instanceof Set) return 'Set(' + value.size + ') ' + list(indent, '{', some(value, item), '}')
    if (value instanceof Map) {
      const pairs = some(value, ([key, one]) => item(key) + ' => ' + item(one))
      return 'Map(' + value.size + ') ' + list(indent, '{', pairs, '}')
    }
    const name = value.constructor?.name ?? ''
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return name + '(' + value.length + ') ' + list(indent, '[', some(value, item), ']')
    }
    const key = (text) => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : stringify(text))
    const entries = some(Object.keys(value), (one) => key(one) + ': ' + item(value[one]))
    return (name === 'Object' || name === '' ? '' : name + ' ') + list(indent, '{', entries, '}')
  }

  /** An error with the places of the code it came through; places of this file are left out. */
  const explain = (error) => {
    if (!(error instanceof Error)) return 'Uncaught ' + show(error)
    const places = String(error.stack ?? '').split('\n').filter((line) => line.includes('code.js'))
    return [error.name + ': ' + error.message, ...places.slice(0, MAX_PLACES)].join('\n')
  }

  const safely = (text) => {
    try {
      return String(text())
    } catch {
      return '[something that cannot be shown]'
    }
  }

  const printer = (stream) => (...values) => {
    host.print(stream, stringify(values.map((value) => safely(() => show(value))).join(' ') + '\n'))
  }
  const out = printer('out')
  const err = printer('err')
  globalThis.console = { log: out, info: out, debug: out, dir: out, table: out, error: err, warn: err, trace: err }

  const waiting = new Map()
  const answer = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))

  class ToolError extends Error {}
  Object.defineProperty(ToolError.prototype, 'name', { value: 'ToolError' })
  const caller = (name) => async (args = {}) => {
    const { stack } = new ToolError() // the place of the call: when the answer is there, it is gone
    try {
      return parse(await answer(host.call(stringify(name), stringify(args) ?? 'null')))
    } catch (error) {
      throw Object.assign(error, { stack })
    }
  }

  Object.assign(globalThis, {
    readFile: (name) => parse(host.readText(stringify(String(name)))),
    readBytes: (name) => new Uint8Array(host.readBytes(stringify(String(name)))),
    writeFile: (name, data) => {
      const file = stringify(String(name))
      if (typeof data === 'string') host.writeText(file, stringify(data))
      else if (data instanceof ArrayBuffer) host.writeBytes(file, data)
      else if (ArrayBuffer.isView(data)) {
        host.writeBytes(file, data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
      } else throw new TypeError('writeFile(name, data) takes text, a typed array or an ArrayBuffer')
    },
    listFiles: () => parse(host.list()),
  })

  const timers = new Set()
  globalThis.setTimeout = (callback, ms, ...args) => {
    const id = host.timer(Number(ms) || 0)
    timers.add(id)
    answer(id)
      .then(() => timers.delete(id) && callback(...args))
      .catch((error) => host.end(false, stringify(safely(() => explain(error)))))
    return id
  }
  globalThis.clearTimeout = (id) => {
    timers.delete(id)
    host.forget(Number(id) || 0)
  }

  return {
    /** Before each run: the names of the tools that can be called. */
    begin(names) {
      timers.clear()
      waiting.clear()
      const tools = Object.create(null)
      for (const name of parse(names)) tools[name] = caller(name)
      globalThis.tools = Object.freeze(tools)
    },
    /** Prints what the code gives in the end, as a prompt would. */
    async follow(run) {
      try {
        const value = await (await run).value
        if (value !== undefined) out(value)
        host.end(true, '""')
      } catch (error) {
        host.end(false, stringify(safely(() => explain(error))))
      }
    },
    settle(id, isGood, text) {
      const one = waiting.get(id)
      waiting.delete(id)
      if (isGood) one?.resolve(text)
      else one?.reject(new ToolError(parse(text)))
    },
    explain: (error) => stringify(safely(() => explain(error))),
  }
})`
