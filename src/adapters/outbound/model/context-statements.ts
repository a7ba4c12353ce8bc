/*
 * Numbers that an error text states about the context window. Only what is stated as a fact counts: "at least N", an
 * output cap or a per-minute limit never does, and neither does a rounded `128k`.
 */

/** A whole number of tokens that stands for itself: not a part of `131072.5`, `128k` or `v100`. */
const number = String.raw`(?<![\d.\w-])(\d{3,9})(?![\d\w]|\.\d)`;
const unit = String.raw`(?: tokens?)?`;
const context = String.raw`context(?:[ _-](?:window|length|size|limit|len))?`;
/** What may stand between a name and its number. */
/** `… of this model is`, as often as `this model's … is`. */
const ofModel = String.raw`(?: (?:for|of|in) (?:this|the|that|your) (?:models?|endpoint|deployment))?`;
const is = String.raw`(?: limit)?${ofModel}(?: is| of| was| =|:| size| \(|,)*(?: only| just| currently)?[ (]*`;

/** After a number that is named before the limit it is the size of what was sent. */
const notTheSize = String.raw`(?!${unit}[),]* ?(?:,? ?(?:which|that) )?(?:exceed|>|while|is (?:longer|larger|greater|more|over|above)|vs|\/))`;

const windowPatterns: readonly RegExp[] = [
  String.raw`> ?${number}${unit} ?(?:max|limit|,|\.|\)|$|;)`,
  String.raw`max(?:imum)?(?: allowed| supported| total)? (?:context|prompt|input|sequence)(?: token)? (?:length|size|window|limit|tokens?)${is}${number}`,
  String.raw`max(?:imum)? (?:request |input |prompt )?(?:size|length)${is}${number} tokens`,
  String.raw`${number} max(?:imum)? context`,
  String.raw`(?:models?|available|configured|loaded)(?: \w+)? (?:context(?: (?:window|length|size|limit))?)${is}${number}${notTheSize}`,
  String.raw`(?:exceed\w*|(?:longer|larger|greater|more) than|over)(?: the| a)?(?: models?| available| configured| maximum| max)* (?:${context}|model length)${is}${number}`,
  String.raw`context[ _-](?:window|length|size|limit)(?: size)?${ofModel}(?: is| of|:| only| \(|=)+ ?(?:only )?${number}${notTheSize}`,
  String.raw`\(${context} ${number}\)`,
  String.raw`max(?:imum)?(?: allowed| supported)? number of (?:input )?tokens(?: allowed| supported)?${is}${number}`,
  String.raw`max(?:imum)? allowed (?:input|prompt) (?:length|tokens)${is}${number}`,
  String.raw`model token limit${is}${number}`,
  String.raw`(?:configured|models?|input|prompt|token) limit${is}${number}`,
  String.raw`(?:tokens?|count of \d+|count|length of \d+|length)\b.{0,20}(?:exceed\w*|over|above|beyond) (?:the )?(?:maximum |max )?limit(?: of|:| is|,)? ?\(?${number}`,
  String.raw`while (?:the )?limit is ${number}`,
  String.raw`(?:only )?supports? (?:only |up to |at most |a maximum of )+${number}(?! (?:completion|output|images?|requests?))`,
  String.raw`(?:total (?:number of )?tokens\b.{0,50}|inputs?(?: tokens)?\b.{0,40}|prompt_tokens\b.{0,30}|input tokens\b.{0,30})(?:cannot exceed|must be (?:<=|at most|less than or equal to|no more than)|must not exceed|must have less than|limit)${is}${number}`,
  String.raw`range of (?:the )?(?:input|prompt|context)(?: tokens?)? length.{0,20}[[(] ?\d+ ?, ?${number}`,
  String.raw`(?:max_model_len|max_seq_len|n_ctx|num_ctx)(?: is| of|=|:| \()* ?${number}`,
].map((source) => new RegExp(source));

/** Windows smaller than this are misread numbers. */
const minWindowTokens = 256;
const maxWindowTokens = 100_000_000;

/** The window that a text of an overflow states, or null. */
export function statedWindow(text: string): number | null {
  for (const pattern of windowPatterns) {
    const match = pattern.exec(text);
    const stated = match?.[1] === undefined ? null : plausibleWindow(Number(match[1]));
    if (
      match !== null &&
      stated !== null &&
      !/at least ?\(?$/.test(text.slice(0, text.indexOf(match[1] ?? '', match.index)))
    )
      return stated;
  }
  return null;
}

/** The window where a text of another kind states it beside its own matter, in so many words. */
export function statedContextLength(text: string): number | null {
  const match = new RegExp(String.raw`max(?:imum)? context (?:length|size|window)${is}${number}`).exec(text);
  return match?.[1] === undefined ? null : plausibleWindow(Number(match[1]));
}

export function plausibleWindow(tokens: number | null): number | null {
  return tokens !== null && tokens >= minWindowTokens && tokens <= maxWindowTokens ? tokens : null;
}

/** The prompt's own tokens where a text states them exactly, beside the output's. A lower bound is no size. */
export function statedPromptTokens(text: string): number | null {
  if (/at least \d/.test(text)) return null;
  const sum = /(\d+) ?\+ ?(\d+) ?> ?\d+/.exec(text);
  if (sum !== null) return Number(sum[1]);
  const output = /(\d+) (?:tokens )?(?:in|for|of) (?:the )?(?:completion|output|response)/.exec(text);
  const total = /requested (?:about |around |a total of )?(\d+) tokens/.exec(text);
  if (output !== null && total !== null) return Number(total[1]) - Number(output[1]);
  const given = /given:? (\d+) inputs?(?: tokens)? and \d+/.exec(text) ?? /has (\d+) input tokens/.exec(text);
  return given === null ? null : Number(given[1]);
}

/** Whether one request is larger than the whole of a per-minute budget: waiting never helps then. */
export function isOverWholeBudget(text: string): boolean {
  const match = /\blimit:? ?(\d+)\b.{0,40}\brequested:? ?(\d+)/.exec(text);
  return match !== null && Number(match[2]) > Number(match[1]);
}
