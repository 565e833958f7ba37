// About a hundred short texts in several languages, and queries for them.

const SUBJECTS: readonly (readonly string[])[] = [
  ['The refund of order {n} was late', 'my refund is late', 'refund order'],
  ['Der Rückversand der Bestellung {n} war zu spät', 'Rückversand Bestellung', 'SPÄT'],
  ['La livraison numéro {n} était déjà arrivée', 'livraison déjà', 'ARRIVÉE'],
  ['El pedido {n} llegó a Málaga mañana', 'pedido Málaga', 'llegó'],
  ['Заказ {n} не пришёл в Москву', 'заказ Москву', 'пришёл'],
  ['注文{n}番の東京への配達が遅れました', '東京 配達', '注文'],
  ['订单{n}没有送到北京', '北京 订单', '送到'],
  ['الطلب {n} لم يصل إلى القاهرة', 'القاهرة', 'الطلب لم يصل'],
  ['주문 {n} 서울에 도착하지 않았습니다', '서울에', '주문'],
  ['Παραγγελία {n} δεν έφτασε στην Αθήνα', 'Αθήνα', 'παραγγελία έφτασε'],
]

/** The texts. Each subject comes in several lengths, so that the ranking has something to do. */
export const TEXTS: readonly string[] = SUBJECTS.flatMap(([text = ''], subject) =>
  Array.from({ length: 10 }, (_, n) => {
    const filled = text.replace('{n}', String(subject * 10 + n))
    return n % 3 === 0 ? filled : `${filled}. ${'Thank you for your help with it. '.repeat(n)}`
  }),
)

/** The queries: words of the subjects, numbers, mixtures, words that no text has, and syntax of search engines. */
export const QUERIES: readonly string[] = [
  ...SUBJECTS.flatMap(([, ...queries]) => queries),
  ...[
    '7',
    '42 refund',
    'order 13 late',
    'help Москву 東京',
    'nothing has this',
    'thank',
    'refund refund late Bestellung',
  ],
  ...[
    '"',
    '" OR "',
    'owner:u1',
    'NOT refund',
    'refund*',
    'NEAR(refund order)',
    '^refund',
    'refund AND',
    '{words}: refund',
  ],
  ...[
    "'; DROP TABLE toolwright_memories; --",
    '(refund | order) & !late',
    ":* <-> 'refund'",
    'words : refund',
    '-refund +order',
  ],
]
