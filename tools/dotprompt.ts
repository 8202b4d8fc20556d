export { Dotprompt } from 'dotprompt'
