import { dayMilliseconds } from '../../../contracts/time.ts'
import { userIdPattern } from '../../../contracts/fields.ts'
import { toNumberKey } from '../suppressions/number-key.ts'

/** A name under which WhatsApp knows a person. */
export interface StoredIdentity {
  accountId: string
  /** A number in the form in which numbers are compared, or a user ID. */
  identity: string
  /** The identity that stands for the person: that of a number if one is known. */
  person: string
  /** A number as its sender wrote it; null for a user ID. */
  number: string | null
  wabaId: string | null
  seenAt: Date
}

/** Names of one person, at one time. */
export interface PersonNames {
  /** Spellings of the person's number. The first one is how the caller wrote it, if the caller did. */
  numbers: readonly string[]
  userId?: string | undefined
  /** The user ID that the portfolios of an organisation share. */
  parentUserId?: string | undefined
}

/** WhatsApp reported names of one person. */
export interface IdentityReport extends PersonNames {
  accountId: string
  /** The WhatsApp Business Account that reported them; a user ID belongs to its portfolio. */
  wabaId: string | undefined
  at: Date
}

/** WhatsApp reported that a person has other names now. */
export interface IdentityChangeReport extends Omit<IdentityReport, keyof PersonNames> {
  previous: PersonNames
  current: PersonNames
}

/** A suppression follows the person: it moves with the name, or is copied and also stays. */
export interface SuppressionTransfer {
  accountId: string
  from: string
  to: string
  kind: 'move' | 'copy'
  /** The number or user ID to show for `to`. */
  shown: string
}

export interface IdentityPlan {
  changed: StoredIdentity[]
  removed: { accountId: string; identity: string }[]
  transfers: SuppressionTransfer[]
}

export function isUserId(identity: string): boolean {
  return userIdPattern.test(identity)
}

/** The number or the user ID that a request names; the number if it has both. */
export function recipientOf({
  to,
  recipient = '',
}: {
  to?: string | undefined
  recipient?: string | undefined
}): string {
  return to ?? recipient
}

export function keysOf({ numbers, userId, parentUserId }: PersonNames): string[] {
  return [...numbers.map(toNumberKey), ...[userId, parentUserId].filter((id) => id !== undefined)]
}

/** A person has a few names. More would be a mistake, and would make each report about the person slow. */
const maxNames = 20

/** How often a known name is written again, so that its age is known. */
const refreshMilliseconds = dayMilliseconds

/**
 * Decides what to store about names that WhatsApp reported, given the stored names of the same persons. Of two reports
 * that contradict each other, the later one is kept: a user ID belongs to one number, and a number to one user ID of a
 * WhatsApp Business Account. The order of the reports does not matter.
 */
export function planIdentities(
  known: readonly StoredIdentity[],
  reports: readonly (IdentityReport | IdentityChangeReport)[],
): IdentityPlan {
  const indexes = new Map<string, IdentityIndex>()
  for (const { accountId } of [...known, ...reports])
    if (!indexes.has(accountId)) indexes.set(accountId, new IdentityIndex(accountId))
  for (const identity of known) indexes.get(identity.accountId)?.load(identity)
  for (const report of reports) {
    const index = indexes.get(report.accountId)
    if ('previous' in report) index?.applyChange(report)
    else index?.applyReport(report)
  }
  const all = [...indexes.values()]
  return {
    changed: all.flatMap((index) => index.listChanged()),
    removed: all.flatMap((index) => index.listRemoved()),
    transfers: all.flatMap(({ transfers }) => transfers),
  }
}

/** The names of the persons of one account, while reports about them are applied. */
class IdentityIndex {
  readonly transfers: SuppressionTransfer[] = []
  readonly #accountId: string
  readonly #rows = new Map<string, StoredIdentity>()
  readonly #namesOf = new Map<string, Set<string>>()
  readonly #changed = new Set<string>()
  readonly #removed = new Set<string>()

  constructor(accountId: string) {
    this.#accountId = accountId
  }

  load(row: StoredIdentity): void {
    this.#delete(row.identity)
    this.#rows.set(row.identity, row)
    const names = this.#namesOf.get(row.person)
    if (names) names.add(row.identity)
    else this.#namesOf.set(row.person, new Set([row.identity]))
  }

  applyReport(report: IdentityReport): void {
    const person = this.#applyNumbers(report) ?? this.#chooseTarget(report, [])
    // A lone user ID stands for itself, and needs no row.
    const isLone = report.numbers.length === 0 && report.parentUserId === undefined
    for (const id of [report.userId, report.parentUserId])
      if (id !== undefined && !(isLone && !this.#rows.has(id))) this.#attach(id, person, report)
  }

  applyChange({ previous, current, ...report }: IdentityChangeReport): void {
    const numbers = [...previous.numbers, ...current.numbers].map(toNumberKey)
    const isOfThem = (identity: string) => numbers.length === 0 || !this.#hasOtherNumber(identity, numbers, report.at)
    const before = keysOf(previous).filter(isOfThem)
    const after = keysOf(current).filter(isOfThem)
    const persons = [...new Set(before.map((identity) => this.#personOf(identity)))]
    const target = this.#chooseTarget(current, persons)
    // Names of someone unknown are not stored. A suppression makes them known without names.
    if (before.some((identity) => this.#rows.has(identity))) {
      this.#applyNumbers({ numbers: current.numbers, ...report })
      for (const id of [...after, ...before])
        if (isUserId(id)) this.#put({ identity: id, person: target, number: null, report })
    }
    for (const from of persons)
      if (isUserId(from)) this.#merge(from, target)
      else if (from !== target) this.#transfer(from, target, 'copy')
  }

  /** A person with a number, if there is one. */
  #chooseTarget(current: PersonNames, previousPersons: readonly string[]): string {
    const persons = keysOf(current).map((identity) => this.#personOf(identity))
    const ofNumber = persons.find((person) => !isUserId(person))
    return ofNumber ?? previousPersons.find((person) => !isUserId(person)) ?? persons[0] ?? ''
  }

  listChanged(): StoredIdentity[] {
    return [...this.#changed].flatMap((identity) => this.#rows.get(identity) ?? [])
  }

  listRemoved(): { accountId: string; identity: string }[] {
    return [...this.#removed]
      .filter((identity) => !this.#rows.has(identity))
      .map((identity) => ({ accountId: this.#accountId, identity }))
  }

  /** Whether a later report gave a user ID to another number than these. */
  #hasOtherNumber(identity: string, numbers: readonly string[], at: Date): boolean {
    const known = this.#rows.get(identity)
    if (known === undefined || !isUserId(identity) || isUserId(known.person)) return false
    return known.seenAt > at && !numbers.includes(known.person)
  }

  #personOf(identity: string): string {
    return this.#rows.get(identity)?.person ?? identity
  }

  /** Returns the person whose number it is. Several spellings in one report are one number. */
  #applyNumbers({ numbers, ...report }: Pick<IdentityReport, 'numbers' | 'wabaId' | 'at'>): string | undefined {
    const [first] = numbers
    if (first === undefined) return undefined
    const person = this.#personOf(toNumberKey(first))
    for (const number of numbers) {
      const identity = toNumberKey(number)
      this.#merge(this.#personOf(identity), person)
      this.#put({ identity, person, number: this.#rows.get(identity)?.number ?? number, report })
    }
    return person
  }

  #attach(id: string, person: string, report: Pick<IdentityReport, 'wabaId' | 'at'>): void {
    const known = this.#rows.get(id)
    const current = this.#personOf(id)
    if (known && current !== person && !isUserId(current) && known.seenAt > report.at)
      return this.#transfer(person, current, 'copy')
    if (!this.#displaceOthers(id, person, report)) {
      this.#transfer(id, person, 'copy')
      return this.#transfer(person, id, 'copy')
    }
    if (isUserId(current)) this.#merge(current, person)
    else if (current !== person) this.#transfer(current, person, 'copy')
    this.#put({ identity: id, person, number: null, report })
  }

  /** Returns false if a later report gave the number to another user ID. */
  #displaceOthers(id: string, person: string, { wabaId, at }: Pick<IdentityReport, 'wabaId' | 'at'>): boolean {
    if (wabaId === undefined || isParentId(id) || isUserId(person)) return true
    const others = this.#listOf(person).filter(
      (row) => row.identity !== id && row.wabaId === wabaId && isOwnId(row.identity),
    )
    if (others.some(({ seenAt }) => seenAt > at)) return false
    for (const { identity } of others) {
      this.#delete(identity)
      this.#changed.delete(identity)
      this.#removed.add(identity)
      this.#transfer(person, identity, 'copy')
    }
    return true
  }

  #merge(from: string, to: string): void {
    if (from === to || this.#listOf(from).length + this.#listOf(to).length > maxNames) return
    for (const row of this.#listOf(from)) this.#set({ ...row, person: to })
    this.#transfer(from, to, 'move')
  }

  #transfer(from: string, to: string, kind: SuppressionTransfer['kind']): void {
    this.transfers.push({ accountId: this.#accountId, from, to, kind, shown: this.#rows.get(to)?.number ?? to })
  }

  #put({
    identity,
    person,
    number,
    report: { wabaId, at },
  }: Pick<StoredIdentity, 'identity' | 'person' | 'number'> & { report: Pick<IdentityReport, 'wabaId' | 'at'> }): void {
    const known = this.#rows.get(identity)
    const isNewer = !known || at.getTime() - known.seenAt.getTime() >= refreshMilliseconds
    const isMoved = known?.person !== person
    if (!isNewer && !isMoved) return
    if (isMoved && this.#listOf(person).length >= maxNames) return
    this.#set({
      accountId: this.#accountId,
      identity,
      person,
      number,
      wabaId: isOwnId(identity) ? (wabaId ?? known?.wabaId ?? null) : null,
      seenAt: known && known.seenAt > at ? known.seenAt : at,
    })
  }

  #listOf(person: string): StoredIdentity[] {
    return [...(this.#namesOf.get(person) ?? [])].flatMap((identity) => this.#rows.get(identity) ?? [])
  }

  #set(row: StoredIdentity): void {
    this.load(row)
    this.#changed.add(row.identity)
  }

  #delete(identity: string): void {
    const person = this.#rows.get(identity)?.person
    if (person !== undefined) this.#namesOf.get(person)?.delete(identity)
    this.#rows.delete(identity)
  }
}

export function isParentId(identity: string): boolean {
  return identity.slice(2).startsWith('.ENT.')
}

/** A user ID of one portfolio. */
function isOwnId(identity: string): boolean {
  return isUserId(identity) && !isParentId(identity)
}
