/**
 * How many digits a number can have, calling code included: the possible lengths in the metadata of Google's libphonenumber
 * (Apache 2.0), within E.164. Widened where WhatsApp writes more or fewer digits: a 1 in Mexico, and numbers from before
 * the renumbering of Ivory Coast (2021) and Benin (2024).
 */
const possible = `
  7-8: 290;
  7-8,10-15: 82;
  7-9,12: 98;
  7,10: 47 683;
  7-10: 690;
  7-12: 27 64;
  7-12,14: 61;
  7-13: 31;
  7-14: 352;
  7-15: 43 49 598;
  8: 500 682;
  8-9: 247;
  8,10: 676 677 678;
  8-10: 688;
  8-10,12: 53;
  8-10,13: 685;
  8,10-15: 63;
  8,11: 1 40 686;
  8-11: 386;
  8-12: 48 95;
  8-12,14: 46 852;
  8-14: 39;
  8-15: 358 971;
  9: 298 299 672 687;
  9-10: 597;
  9-10,12: 421;
  9,11-12: 376 44 689;
  9-12: 252 355 84;
  9,12: 508 681;
  9,12,14-15: 90;
  9-12,15: 359;
  9-13: 880;
  9-14: 375 595 86;
  9-15: 381 62;
  10: 238 239 246 248 269 291 297 45 592 673 674 680 691 692;
  10-11: 241 32 36 51 599 670 675 853 961 965 975;
  10-11,13: 230 267 372;
  10-11,13-14: 507;
  10-11,14: 503;
  10-12: 20 231 385 60 967 968;
  10,12: 220 245 265 354 423;
  10,12-13: 263 57 65;
  10-12,14: 974;
  10-12,15: 66;
  10-13: 243 254 353 55;
  10,13: 960;
  10-14: 886 92;
  10,14: 501 679;
  10-15: 81 882 91 972;
  11: 216 222 223 226 227 228 232 235 236 253 257 266 33 34 350 356 357 370 371 373 374 389 505 509 800 808 93 94 973 993;
  11-12: 213 224 233 237 250 258 264 268 377 382 387 591 962 963;
  11-13: 56 855 856 964 970 976;
  11,13: 225 229 378 506 850;
  11,13-14: 977;
  11,14: 41 502 504;
  11-14: 593;
  11,15: 7;
  11-15: 383 883;
  12: 211 212 218 221 240 242 244 249 251 255 256 260 261 262 351 58 590 594 596 979 992 994 995 998;
  12-13: 380 52 54 881 966 996;
  12-14: 30;
  12-15: 420;
  12,15: 870;
  13-15: 234;
  14: 888;
  15: 878`

interface NumberPlan {
  callingCode: string
  /** Such as `9-10,12`. */
  lengths: string
  has: ReadonlySet<number>
}

const plans = new Map<string, NumberPlan>(
  possible.split(';').flatMap((entry) => {
    const [lengths = '', codes = ''] = entry.trim().split(': ')
    const has = new Set(lengths.split(',').flatMap(toRange))
    return codes.split(' ').map((callingCode) => [callingCode, { callingCode, lengths, has }] as const)
  }),
)

function toRange(text: string): number[] {
  const [first = 0, last = first] = text.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** The calling code that a number starts with, and the lengths of its numbers; undefined if no country has it. */
export function findNumberPlan(number: string): NumberPlan | undefined {
  return plans.get(number.slice(0, 3)) ?? plans.get(number.slice(0, 2)) ?? plans.get(number.slice(0, 1))
}

/** Whether a number has a known calling code, and as many digits as its numbers can have. Digits only. */
export function isPossibleNumber(number: string): boolean {
  return findNumberPlan(number)?.has.has(number.length) === true
}
