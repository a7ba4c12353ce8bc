/*
 * The tables by which a provider's error gets its kind. Rows are families: they name what is compared with what, never
 * whole sentences, so that other numbers, model names and wordings of the same family match too. Texts are given in the
 * form of `matchable`. The order of the rows is their priority; each group says why it stands where it does.
 */
import type { FailureKind } from '../../../core/domain/model/failure.ts';

export interface TextFamily {
  readonly kind: FailureKind;
  readonly pattern: RegExp;
  /** A text that matches this too belongs to another family. */
  readonly unless?: RegExp;
}

export interface CodeFamily {
  readonly kind: FailureKind;
  readonly pattern: RegExp;
}

/** Codes and exception names that settle the matter alone. Throttling stands before overflow: it beats overflow words. */
export const tellingCodes: readonly CodeFamily[] = [
  { kind: 'rate_limited', pattern: /servicequotaexceeded/ },
  {
    kind: 'quota_exhausted',
    pattern:
      /insufficient_?(?:user_?)?(?:quota|balance|credits?|funds)|exceeded_current_quota|billing|payment_?required|^quota_?exceeded|credit_?(?:balance|limit)|arrearage|budget_?exceeded|out_of_credits/,
  },
  {
    kind: 'rate_limited',
    pattern:
      /rate_?limit|too_?many_?requests|throttl|resource_?exhausted|(?:requests|tokens)_per_|concurrency_?limit|limit_(?:requests|tokens|burst_rate)|^tokens$|^requests$/,
  },
  {
    kind: 'context_overflow',
    pattern:
      /context_?(?:(?:length|window|size|limit|tokens?)_?){0,2}(?:exceeded|overflow|too_?(?:long|large))|exceeds?_?(?:max_?)?context|(?:prompt|input)_?(?:tokens?_?)?(?:too_?(?:long|large)|(?:limit_?)?exceeded|length_exceeded)|^tokens_limit_reached$/,
  },
  {
    kind: 'payload_too_large',
    pattern: /(?:request|payload|entity|body|content|image|file)_?too_?large|string_above_max_length/,
  },
  {
    kind: 'content_filtered',
    pattern:
      /content_?(?:filter|policy|moderation)|moderation|responsibleai|data_?inspection|prohibited_?content|^safety$/,
  },
  {
    kind: 'auth',
    pattern:
      /(?:invalid|missing|incorrect|expired)_?(?:api_?key|token|credentials?|authentication)|authentication_?(?:error|failed)|authenticationerror|unauthenticated|unauthorized|permission_?denied|permission_?error|access_?denied|expired_?token|unrecognizedclient|^forbidden$/,
  },
  {
    kind: 'configuration',
    pattern: /model_?not_?found|unknown_?model|invalid_?model|deployment_?not_?found|model_?not_?exist/,
  },
];

/** Codes that say little: a text that says more, or the HTTP status, comes first. */
export const vagueCodes: readonly CodeFamily[] = [
  {
    kind: 'unavailable',
    pattern:
      /unavailable|overloaded|server_?error|internal|api_?error|time_?out|timed_?out|deadline_?exceeded|not_?ready|early_?eof|upstream|bad_?gateway|network_?error|insufficient_system_resource|aborted|^5\d\d$/,
  },
  { kind: 'configuration', pattern: /not_?found|^404$/ },
  { kind: 'auth', pattern: /^40[13]$/ },
  {
    kind: 'bad_request',
    pattern: /invalid|bad_?request|validation|unsupported|unprocessable|unknown_parameter|^4\d\d$/,
  },
];

/** How servers name the cap on the answer. "maximum number of tokens allowed" is none: it caps the input. */
const outputCap = String.raw`(?:max(?:imum)?[_ -]?(?:(?:allowed )?(?:completion|output|new|generated|response)[_ -]?)?tokens?(?:_to_sample)?|num_predict)\b`;
const context = String.raw`context(?:[_ -]?(?:window|length|size|limit|budget|len))?`;
const serverContext = String.raw`(?:max_model_len|max_seq_len|max_position_embeddings|n_ctx|num_ctx|context_length|maximum model length)`;
const input = String.raw`(?:inputs?|prompts?|requests?|messages?|conversations?|query|chat history|text)`;
const exceeds = String.raw`(?:exceed(?:s|ed|ing)?|surpass(?:es|ed)?|overflow(?:s|ed)?|(?:is|are|was|were|being)? ?(?:longer|larger|greater|bigger|more|higher) than|(?:is|are|was|were) (?:over|above|beyond)|goes (?:over|beyond)|over the|> ?)`;
const within = String.raw`(?:less|fewer|smaller|lower|below|under|within|at most|no (?:more|longer|greater|larger)|<=?|≤|not exceed|exceed|be (?:longer|larger|greater|more) than)`;
const mustNot = String.raw`(?:must|should|can ?not|cannot|can not|can only|may not|has to|have to|needs? to)`;

const family = (kind: FailureKind, source: string, unless?: RegExp): TextFamily =>
  unless === undefined ? { kind, pattern: new RegExp(source) } : { kind, pattern: new RegExp(source), unless };

/** Money and throttling: they are looked for before everything else that a text may say, whatever its status. */
export const quotaAndThrottleTexts: readonly TextFamily[] = [
  family(
    'quota_exhausted',
    String.raw`insufficient (?:quota|balance|credits?|funds|account balance)|(?:credit|account) balance\b.{0,30}(?:too low|insufficient|exhausted|depleted|negative|is 0)|(?:run|ran) out of (?:credits?|funds)|(?:no|not enough|requires? more|purchase more|buy more|top up your) credits|credits (?:have been |are )?exhausted|can only afford|billing (?:hard )?limit|payment required|(?:used|spent|consumed|exhausted) (?:up )?(?:all|the rest) (?:of )?(?:(?:its|your|the|available|remaining|prepaid) )*credits|(?:spend(?:ing)?|budget) (?:limit|cap)\b.{0,40}(?:reached|exceeded|hit)|(?:reached|exceeded|hit)\b.{0,30}(?:spend(?:ing)?|budget) (?:limit|cap)|quota\b.{0,120}limit: ?0\b|(?:account|subscription)\b.{0,30}(?:overdue|in arrears|suspended for)|余额不足|欠费|额度(?:已)?(?:用完|不足)`,
  ),
  family(
    'rate_limited',
    String.raw`\brate[ _-]?limit|too many (?:\w+ )?requests|throttl|\b(?:tokens?|requests?|queries)[ /_-]?(?:per|/)[ _-]?(?:min(?:ute)?|sec(?:ond)?|hour|day|month)\b|\b[ritoq]{1,2}p[md]\b|resource (?:has been )?exhausted|resource_exhausted|quota exceeded for|slow down|requests?\b.{0,20}too (?:frequent|fast|quick)|rate (?:exceeded|increased)|too many tokens[.,:;]? (?:please )?(?:wait|per)|(?:wait|try again|retry)\b.{0,15}before (?:trying|retrying|sending)|please retry shortly|concurren\w+\b.{0,20}\blimit|too many concurrent|请求(?:过于|太)频繁|限流|速率|频率(?:限制|过高)|触发.{0,6}频率`,
  ),
];

/** A wait that is named in numbers is throttling, unless the server says by its status that it is in trouble itself. */
export const namedWaitText =
  /(?:try again|retry|wait)\b.{0,12}\b(?:in|after|for)? ?(?:about |approximately )?\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?)\b/;

/** "You exceeded your current quota" is money when nobody said by when it comes back. */
export const softQuotaText =
  /exceeded your (?:current |monthly |daily |weekly )?(?:quota|usage limit|usage quota)|exceeded your .{0,20}(?:monthly|weekly|daily) .{0,20}(?:limit|quota)|(?:monthly|weekly|daily|usage) (?:token )?(?:quota|limit|cap)\b.{0,30}(?:exceeded|reached|exhausted|used up)|quota (?:has been |is )?(?:exhausted|exceeded|used up)/;

/** Texts about sizes, in this order: each family is narrower than the ones that follow it. */
export const sizeTexts: readonly TextFamily[] = [
  // Input and output together are over the window: an overflow, although it names the output cap.
  family(
    'context_overflow',
    String.raw`(?:${input}|context)\b[^.;]{0,50}?(?:\+|\bplus\b|\band\b)[^.;]{0,25}?(?:${outputCap}|(?:prediction|completion|output|response))[^.;]{0,40}?(?:${exceeds}|${mustNot}\b.{0,12}${within})`,
    new RegExp(String.raw`${mustNot} (?:both )?be (?:set|provided|specified|given|present)`),
  ),
  family(
    'context_overflow',
    String.raw`${outputCap}[^.;]{0,40}?(?:\+|\bplus\b)[^.;]{0,30}?${input}\b[^.;]{0,40}?(?:${exceeds}|${mustNot}\b.{0,12}${within})`,
  ),
  family(
    'context_overflow',
    String.raw`(?:sum|total|combined)\b[^.;]{0,40}?(?:${input}|context)\b[^.;]{0,25}?(?:\+|\bplus\b|\band\b)[^.;]{0,25}?(?:prediction|completion|output|response)[^.;]{0,30}?(?:limited to|limit (?:is|of)|at most|no more than|up to) ?\d`,
  ),
  // A server that subtracts the prompt from the window before it checks the rest.
  family('context_overflow', String.raw`max_\w*tokens must be at least 1\b.{0,20}got -\d`),
  family(
    'context_overflow',
    String.raw`max(?:imum)?(?: (?:request|input|prompt|body|context))? (?:size|length)(?: is| of|:)? ?\d+ tokens`,
    new RegExp(outputCap),
  ),

  family(
    'output_limit',
    String.raw`${outputCap}.{0,90}?${mustNot}\b.{0,30}?(?:less|lower|smaller|below|under|<=?|≤|at most|no more|not exceed|exceed|between|in the range|within|(?:greater|larger|more|higher) than \d{2,})`,
  ),
  family('output_limit', String.raw`${outputCap}.{0,60}(?:above (?:the )?max|(?:<=|≤) ?\d)`),
  family(
    'output_limit',
    String.raw`range (?:of|for) (?:the )?(?:parameter )?${outputCap}|${outputCap}.{0,40}(?:valid|supported|allowed|permitted|accepted) (?:range|values?)|${outputCap}.{0,30}[[(] ?\d+ ?, ?\d+ ?[\])]`,
  ),
  family(
    'output_limit',
    String.raw`${outputCap}(?!.{0,25}${mustNot} be (?:greater|larger|more|higher|at least))[^.;]{0,60}?(?:too (?:large|big|high|many)|exceed|> ?\d|(?:larger|greater|higher|bigger|more) than (?!(?:or equal to )?[01]\b)|is (?:above|over)\b)`,
  ),
  family(
    'output_limit',
    String.raw`max(?:imum)?(?: number of)? (?:output |completion )?tokens? (?:that )?(?:you |were |was )?(?:have )?requested\b.{0,30}exceed|requested (?:output|completion)\b.{0,30}exceed|requested (?:number of |max(?:imum)? |output |completion |response )+tokens?\b.{0,40}(?:exceed|above|over|larger|greater|more than)`,
  ),
  family(
    'output_limit',
    String.raw`(?:supports?|allows?|produces?|generates?|limited to|limit of|maximum of)\b(?: at most| up to| only| a maximum of| no more than| more than| over)* \d+ (?:completion|output|generated|response) tokens|max(?:imum)?(?: allowed)? value (?:of|for) ${outputCap}|too many (?:output|completion) tokens|\d+ (?:completion|output|generated|response) tokens (?:can|may|will) be (?:generated|produced|returned)|\bgenerate at most \d+ tokens|max(?:imum)?[_ ](?:completion|output|generated)[_ ]tokens\b(?: limit)?(?: is| of|:) ?\d+.{0,40}(?:requested|got|given|but|you)`,
  ),
  family(
    'output_limit',
    String.raw`(?:^|[^+&] )(?:output|completion|response|answer|generation) (?:tokens?|length)\b.{0,50}(?:exceed|too (?:large|long|high)|larger than|greater than|is (?:above|over|beyond)|> ?\d)`,
    new RegExp(String.raw`${input} tokens?\b.{0,30}(?:\+|plus|and)`),
  ),
  family('output_limit', String.raw`${outputCap}.{0,20}(?:超过|超出|过大|不能(?:大于|超过)|取值范围|范围)`),

  family(
    'payload_too_large',
    String.raw`(?:exceed|limit|max|too (?:large|big|long)|larger than|over|at most|up to|greater than).{0,60}?\d+(?:\.\d+)? ?-?(?:bytes?|[kmg]i?b|megabytes?|kilobytes?|pixels?|px|megapixels?|characters?|chars?)\b|\d+(?:\.\d+)? ?(?:bytes?|[kmg]i?b|pixels?|characters?|chars?)\b.{0,40}(?:exceed|limit|max|too (?:large|big|long)|larger than)`,
    new RegExp(String.raw`\btokens?\b|${context} (?:window|length|size)`),
  ),
  family(
    'payload_too_large',
    String.raw`\bstring (?:value )?(?:is )?(?:too long|length\b.{0,40}exceed)|max(?:imum)? ?_?length:? ?\d+.{0,80}(?:string|got|actual|received)|string should have at most`,
  ),
  family(
    'payload_too_large',
    String.raw`\b(?:image|picture|photo|video|audio|file|attachment|document|pdf)s?\b.{0,60}(?:dimensions?|resolution|pixels?|size)\b.{0,40}(?:exceed|max|larger|too)|\b(?:image|picture|photo|video|file|attachment|document|pdf)s?\b.{0,20}(?:exceeds|(?:is|are) too (?:large|big)|too large)`,
    /\btokens?\b|number of/,
  ),
  family(
    'payload_too_large',
    String.raw`(?:request|payload|body|entity|content|upload|http|data|total messages?|messages?) (?:[\w()]+ ){0,3}?(?:size\b.{0,40}?(?:exceed|over|larger|greater|limit|max|too (?:large|big))|too large)|(?:request|payload|entity|body|content|upload)\b(?: is| was)? too (?:large|big)|exceed\w* (?:the )?(?:max\w*|allowed|permitted|configured)(?: allowed)?(?: (?:request|payload|body|file|message|upload|content))* size|size of (?:the |your |all )?(?:request|messages?|payload|body|content|input data)\b.{0,40}(?:exceed|over|larger|greater)|message larger than max`,
    new RegExp(String.raw`\btokens?\b|${context} (?:window|length|size)|context size`),
  ),
];

/** A transcript or request of the wrong shape. It shares words with overflow texts, so the one that comes first decides. */
export const structureTexts: readonly TextFamily[] = [
  family(
    'bad_request',
    String.raw`\broles? [(]?tool[)]?.{0,60}(?:must|should|follow)|tool[_ ](?:use|call|result)s?(?:_ids?)?\b.{0,120}(?:must|should|missing|without|unexpected|not found|corresponding|preced|immediately|cannot|requires?|did not)|(?:unexpected|missing|orphan\w*|duplicate) tool[_ ](?:use|call|result)|blocks? cannot be (?:provided|used|modified)`,
  ),
  family(
    'bad_request',
    String.raw`roles? must alternate|alternate between|no user (?:query|message)|messages?(?: array| list|: array)?\b.{0,20}(?:too short|must (?:not be empty|be non-?empty|contain at least|have at least)|(?:is|are) (?:empty|required))|at least one message|(?:first|last) message must|must (?:start|begin|end) with|invalid role|conversation must`,
  ),
  family(
    'bad_request',
    String.raw`unknown (?:parameter|field|argument)|unsupported (?:parameter|value|field)|unrecognized request|(?:does not|doesnt|not) support(?:ed)?\b|extra inputs are not permitted|missing (?:required )?(?:parameter|field|reasoning_content)|field required|at most \d+ (?:images?|tools?|files?|documents?|stop)|too many (?:images?|tools?|files?|documents?|stop|functions?|messages)|number of (?:images?|tools?|files?|functions?|messages|stop)|invalid (?:json|schema|type|tool|function|signature|value|image|base64)|is not (?:valid json|of type)|not valid json|json.{0,20}(?:parse|decode|syntax)|grammar`,
  ),
];

export const overflowTexts: readonly TextFamily[] = [
  // Something is compared with the context.
  family('context_overflow', String.raw`${exceeds}.{0,60}?\b(?:${context}|${serverContext})\b`),
  family(
    'context_overflow',
    String.raw`(?:too (?:long|large|big|many)|(?:does not|doesnt|do not|dont|will not|cannot|can not|cant|wont|didnt|unable to) fit).{0,60}?\b(?:${context}|${serverContext})\b`,
  ),
  family(
    'context_overflow',
    String.raw`(?:${context}|${serverContext})\b(?: is| has| was| limit| tokens?| the)?(?: been)? ?(?:exceed|overflow|exhausted|(?:is )?full\b|reached|too (?:small|short))|${context}\b[^.;]{0,50}(?:has been|was|is|been) exceeded`,
  ),
  family(
    'context_overflow',
    String.raw`${context}.{0,40}which is not enough|\b(?:tokens?|length|inputs?|prompts?|prompt_tokens)\b.{0,40}${mustNot}\b.{0,12}${within}.{0,30}(?:${context}|${serverContext})\b`,
  ),
  family(
    'context_overflow',
    String.raw`超(?:过|出|长).{0,20}(?:上下文|最大长度|最大输入|token)|(?:上下文|输入|提示词?|prompt) ?(?:长度|tokens?|内容)?.{0,10}(?:超过|超出|超长|过长|超限)`,
  ),
  // The context's size is stated, with what was sent beside it.
  family(
    'context_overflow',
    String.raw`max(?:imum)?(?: allowed| supported| total)? (?:context|prompt|input|sequence)(?: token)? (?:length|size|window|limit|tokens?)\b.{0,25}?\d{3,}.{0,40}?(?:however|but|while|requested|resulted|contains?|has|have|given|got|received|input|your|request)`,
  ),
  family(
    'context_overflow',
    String.raw`max(?:imum)? context\b.{0,30}\d{3,}|${context} (?:is|of) \d{3,}.{0,30}(?:got|but|requested|received|given|however)|\d+ tokens?\b.{0,30}(?:but|while|whereas|however)\b.{0,20}context|\blength (?:is|of) \d+.{0,20}limit (?:is|of) \d+|exceed\w* (?:the )?max(?:imum)?(?: allowed)? number of tokens|\b(?:prompt|input)\b.{0,30}\d+ tokens\b.{0,60}\b(?:takes?|accepts?|allows?|handles?)\b.{0,20}\d|exceed\w*.{0,40}max\w*(?: number of)? (?:input|prompt|context) tokens`,
  ),
  family(
    'context_overflow',
    String.raw`${input}\b.{0,40}\d+ ?tokens?\b.{0,60}(?:but|while|whereas|and|only|,).{0,60}(?:${context}|window|limit|max(?:imum)?|supports?)\b.{0,30}\d`,
    new RegExp(outputCap),
  ),
  family('context_overflow', String.raw`token count (?:is|of|was)? ?\d+.{0,40}(?:only )?supports? (?:only |up to )*\d`),
  // The input is called too long, or its tokens or length over a maximum.
  family(
    'context_overflow',
    String.raw`\b(?:prompts?|inputs?|conversations?|chat history|message history|query|context)\b(?: text| message| tokens?| length| content){0,2}(?: is| are| was| were| has become)? (?:far |much |way )?too (?:long|large|big)\b`,
  ),
  family(
    'context_overflow',
    String.raw`too many (?:input|prompt|context) tokens|too many tokens\b.{0,120}(?:limit for this model|shorter|fewer inputs)|tokens? (?:in|of) (?:the |your )?${input}\b.{0,40}${exceeds}.{0,60}(?:max|limit|allowed|window|\d{3,})|number of (?:input|prompt) tokens\b.{0,40}(?:${exceeds}|${mustNot}\b.{0,12}${within})`,
  ),
  family(
    'context_overflow',
    String.raw`\b${input}\b.{0,40}?\btokens?\b.{0,50}?${exceeds}.{0,60}?(?:max|limit|allowed|allowance|window|capacity|\d{3,})`,
    /output tokens|completion tokens/,
  ),
  family(
    'context_overflow',
    String.raw`\b(?:prompt|input|inputs|context|sequence|query)[ _-](?:text |message )?(?:length|size)\b.{0,40}?(?:${exceeds}|${mustNot}\b.{0,12}${within}).{0,60}?(?:max|limit|allowed|\d{3,})`,
  ),
  family(
    'context_overflow',
    String.raw`\b(?:prompt|input|inputs|conversation|context)\b.{0,20}exceed\w*.{0,30}?max\w*.{0,20}?(?:length|len\b|tokens?)`,
  ),
  family(
    'context_overflow',
    String.raw`range of (?:the )?(?:input|prompt|context|messages?)(?: tokens?)? (?:length|size)?.{0,20}[[(] ?\d+ ?, ?\d+`,
  ),
  family(
    'context_overflow',
    String.raw`exceed\w*.{0,20}?\b(?:models?|context|input|prompt)(?: \w+)? tokens? (?:limit|count|maximum|allowance|capacity)|exceed\w* max(?:imum)? (?:input|message|prompt|context|sequence) tokens`,
  ),
  family(
    'context_overflow',
    String.raw`total (?:number of )?tokens?\b.{0,60}(?:${mustNot}\b.{0,12}${within}|${exceeds}).{0,30}?(?:\d|max|limit|context)`,
  ),
  family(
    'context_overflow',
    String.raw`\b(?:inputs?|prompt|messages?|prompt_tokens)\b.{0,20}${mustNot} (?:have|be|contain)\b.{0,12}${within}.{0,20}(?:tokens|max_seq_len|max_model_len)`,
  ),
  family('context_overflow', String.raw`\d+ tokens? ?> ?\d+|tokens? to keep from the initial prompt`),
  // Advice that no other failure gives.
  family(
    'context_overflow',
    String.raw`(?:reduce|shorten|decrease|trim) the (?:length|number|size) of (?:tokens in )?(?:the |your |either )?(?:one|input|inputs|prompt|messages?|conversation|context)\b`,
    /string|bytes|tool|image/,
  ),
];

/** What is left of the texts, for errors without a telling code or status. */
export const otherTexts: readonly TextFamily[] = [
  family(
    'content_filtered',
    String.raw`content (?:management )?(?:policy|filter|moderation)|requires moderation|(?:inputs?|prompts?|messages?|requests?|content|outputs?|text)\b.{0,20}(?:was|were|is|are|has been|have been|got) flagged|(?:flagged|blocked|rejected|refused)\b.{0,50}(?:moderation|safety|polic|inappropriate|filter)|safety (?:system|filter)|data inspection|inappropriate content|violat\w+ .{0,30}(?:usage )?polic|sensitive content|敏感(?:内容|词)|违规`,
  ),
  family(
    'auth',
    String.raw`(?:invalid|incorrect|missing|expired|revoked|wrong|no) (?:or \w+ )?(?:api[ _-]?key|access token|auth\w* (?:token|header|credentials?)|credentials?|bearer token)|unauthori[sz]ed|authentication (?:failed|error|required|fails)|(?:permission|access) (?:was |is )?denied|not authori[sz]ed|api[ _-]?key\b.{0,20}(?:not valid|invalid|not found|expired|disabled|revoked)|鉴权失败|令牌(?:无效|过期)`,
  ),
  family(
    'configuration',
    String.raw`\bmodels?\b[ :]?[\w./:@-]{0,80} ?(?:was |is |does |could )?(?:not (?:be )?found|not exist|not a valid|unknown|not available)|no such model|not a valid model|unknown model|invalid model|unsupported model|no endpoints found|deployment\b.{0,30}does not exist|no allowed providers`,
  ),
  family(
    'unavailable',
    String.raw`overload|unavailable|internal (?:server )?error|server (?:is )?(?:busy|error|had an error)|bad gateway|gateway|timed? ?-?out|no (?:healthy|available) (?:upstream|backend|server)|connection (?:reset|refused|error|closed|aborted)|(?:is |currently )loading|try again later|stream (?:ended|closed|error)|upstream|at capacity|over capacity|high (?:demand|load|traffic)|cuda|out of memory|crashed|unexpected error`,
  ),
];
