# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mettle.fish: completion of the command mettle in fish. Installed as
# share/fish/vendor_completions.d/mettle.fish; or: source completions/mettle.fish

# What `mettle reflect` tells of the source in the command line.
function __mettle_reflect
    for word in (commandline -opc)
        if string match -qr '\.(metal|mtl)$' -- $word; and test -r $word
            mettle reflect $word 2>/dev/null
            return
        end
    end
end

function __mettle_kernels
    __mettle_reflect | string replace -rf '^kernel ' ''
end

# The arguments of all kernels, with what is put behind them.
function __mettle_arguments
    for name in (__mettle_reflect | string replace -rf \
            '^  [a-z]+ +[0-9]+  (\S+) .*' '$1' | sort -u)
        echo "$name$argv[1]"
    end
end

# NAME= of every argument, then what a value can begin with.
function __mettle_bindings
    set -l word (commandline -ct)
    if string match -qr '^-' -- $word
        return
    else if string match -qr '=' -- $word
        set -l name (string replace -r '=.*' '' -- $word)
        for start in zeros: ones: iota: rand:
            echo $name=$start
        end
        for file in *.npy *.png
            echo $name=@$file
        end
    else
        __mettle_arguments =
    end
end

function __mettle_saved
    set -l word (commandline -ct)
    if string match -qr '=' -- $word
        set -l name (string replace -r '^(--save=)?([^=]*)=.*' '$2' -- $word)
        echo $name=$name.npy
        echo $name=$name.png
    else
        __mettle_arguments =
    end
end

function __mettle_devices
    mettle devices 2>/dev/null | string replace -rf '^(\S+).*' '$1'
end

# True if so many words that are no options stand behind the verb.
function __mettle_words
    set -l words (commandline -opc | string match -rv '^-')
    test (count $words) -eq (math 2 + $argv[1])
end

# True if the word in hand is like a pattern; it and each of a list's words.
function __mettle_at
    string match -qr -- $argv[1] (commandline -ct)
end

function __mettle_listed
    set -l begun (string replace -r '[^=,]*$' '' -- (commandline -ct))
    for word in $argv
        echo $begun$word
    end
end

function __mettle_verb
    __fish_seen_subcommand_from $argv
end

set -l verbs run diff compile reflect model iree devices bench corpus env trace \
    help
complete -c mettle -f
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a run \
    -d 'compile a kernel and run it on data'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a diff \
    -d "compare a kernel's results in several tiers and on devices"
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a compile \
    -d 'check a source, write its code, show how it compiles'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a reflect \
    -d 'list the kernels of a source and their arguments'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a model \
    -d 'run a PyTorch model that AOTInductor compiled for mps'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a iree \
    -d "run a program of IREE's compiler"
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a devices \
    -d 'list the devices of this machine'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a bench \
    -d 'measure this machine'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a corpus \
    -d 'compile every source under a folder and report'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a env \
    -d 'run a program for macOS that uses Metal'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a trace \
    -d 'tell where the time of a timeline went'
complete -c mettle -n '__mettle_verb env' \
    -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c mettle -n "not __fish_seen_subcommand_from $verbs" -a help \
    -d 'tell of a verb'
complete -c mettle -n '__mettle_verb help' -a "$verbs"

complete -c mettle -l help -s h -d 'print the help'
complete -c mettle -l version -d 'print the version'

set -l sources '__mettle_verb run diff compile reflect'
complete -c mettle -n "$sources; and __mettle_words 0" -k \
    -a '(__fish_complete_suffix .metal)'
complete -c mettle -n '__mettle_verb run diff; and not __mettle_words 0' \
    -a '(__mettle_bindings)'
complete -c mettle -n '__mettle_verb run diff; and __mettle_words 1' \
    -a '(__mettle_kernels)'

set -l compiles '__mettle_verb run diff compile reflect corpus'
complete -c mettle -n $compiles -s I -x -a '(__fish_complete_directories)' \
    -d 'search a folder for headers'
complete -c mettle -n $compiles -s D -x -d 'define a macro'
complete -c mettle -n $compiles -l math -x -a 'safe relaxed fast' \
    -d 'what may be done with floating point'
complete -c mettle -n $compiles -l std -x \
    -a 'metal2.4 metal3.0 metal3.1 metal3.2 metal4.0 metal4.1' -d 'the language version'
complete -c mettle -n $compiles -l device -x -a '(__mettle_devices)' \
    -d 'the device'
complete -c mettle -n $compiles -o fpermissive -d 'warn of what Metal refuses'
complete -c mettle -n $compiles -l debug -d 'unoptimised, with checks'
complete -c mettle -n $sources -l constant -x \
    -d 'the value of a function constant'
complete -c mettle -n '__mettle_verb run reflect corpus model iree devices bench' \
    -l json -d 'print JSON'

complete -c mettle -n '__mettle_verb run diff' -l grid -x \
    -a '(__mettle_arguments)' -d 'threads in all'
complete -c mettle -n '__mettle_verb run diff compile' -l group -x \
    -d 'threads in a threadgroup'
complete -c mettle -n '__mettle_verb run' -l save -x -a '(__mettle_saved)' \
    -d 'write an argument to a file'
complete -c mettle -n '__mettle_verb run' -l print -x \
    -a '(__mettle_arguments)' -d 'print an argument'
complete -c mettle -n '__mettle_verb run model iree' -l repeat -x -d 'run so often'
complete -c mettle -n '__mettle_verb run diff' -l call-depth -x \
    -d 'nesting of calls through function tables'
complete -c mettle -n '__mettle_verb run diff' -l timeout -x \
    -d 'seconds that the run may take'
complete -c mettle -n '__mettle_verb run model' -l trace -r \
    -d 'write a timeline'
complete -c mettle -n '__mettle_verb run model' -l check \
    -d 'check every access'
complete -c mettle -n "__mettle_verb run model; and __mettle_at '^--check='" \
    -a '(__mettle_listed races bounds init sync align nan integer host uniform stop all)'
complete -c mettle -n '__mettle_verb run model' -l check-report -r \
    -d 'write the findings'
complete -c mettle -n '__mettle_verb run model' -l check-suppress -r \
    -d 'findings to leave out'
complete -c mettle -n '__mettle_verb run model' -l schedule -x \
    -a 'forward reverse random:1 stale:1 explore:8' -d 'of --check'
complete -c mettle -n '__mettle_verb diff' -l tiers -x -a '0,1,C 0,1 1,C' \
    -d 'which tiers'
complete -c mettle -n '__mettle_verb diff' -l devices -x \
    -a 'cpu,cpu-discrete' -d 'which devices'
complete -c mettle -n '__mettle_verb diff' -l ulps -x \
    -d 'floats so far apart are alike'
complete -c mettle -n '__mettle_verb trace' -l top -x -d 'rows of commands'
complete -c mettle -n '__mettle_verb trace' -l output -r \
    -d 'the page to write'
complete -c mettle -n '__mettle_verb trace; and __mettle_words 0' -x \
    -a 'summary view'
complete -c mettle -n '__mettle_verb run' -l unchecked \
    -d 'do not look for accesses behind the ends of buffers'
complete -c mettle -n '__mettle_verb run' -l log \
    -d 'print what the kernel says by os_log'

complete -c mettle -n '__mettle_verb compile' -s o -r -d 'write the container'
complete -c mettle -n '__mettle_verb compile' -l dump-after -x \
    -a 'frontend vectorize optimise finish_module steps plan asm' -d 'print the IR after a pass'
complete -c mettle -n '__mettle_verb compile' -l dump-plan \
    -d 'print how each load and store is done'
complete -c mettle -n '__mettle_verb compile' -l without -x \
    -d 'leave out steps of the vectoriser'
complete -c mettle -n '__mettle_verb compile' -l report \
    -d 'print how each kernel was compiled'
complete -c mettle -n '__mettle_verb compile' -l asm \
    -d 'print the machine code with source lines'
complete -c mettle -n '__mettle_verb compile reflect' -l kernel -x \
    -a '(__mettle_kernels)' -d 'of this kernel only'

complete -c mettle -n '__mettle_verb corpus; and __mettle_words 0' \
    -a '(__fish_complete_directories)'
complete -c mettle -n '__mettle_verb corpus' -l manifest -r \
    -d 'how the project compiles'
complete -c mettle -n '__mettle_verb corpus' -l pipelines \
    -d 'make machine code of every kernel too'

complete -c mettle -n '__mettle_verb model; and __mettle_words 0' -a 'run info'
complete -c mettle -n '__mettle_verb model; and __mettle_words 1' -k \
    -a '(__fish_complete_suffix .so)'
complete -c mettle -n '__mettle_verb model' -l input -r -d 'the next input'
complete -c mettle -n '__mettle_verb model' -l output-dir -x \
    -a '(__fish_complete_directories)' -d 'where outputs go'
complete -c mettle -n '__mettle_verb model' -l weights -r -d 'the weights'

complete -c mettle -n '__mettle_verb iree; and __mettle_words 0' -a 'run'
complete -c mettle -n '__mettle_verb iree; and __mettle_words 1' -k \
    -a '(__fish_complete_suffix .vmfb)'
complete -c mettle -n '__mettle_verb iree' -l function -x -d 'the function'
complete -c mettle -n '__mettle_verb iree' -l input -r -d 'the next argument'
complete -c mettle -n '__mettle_verb iree' -l output -r \
    -d 'where the next result goes'
complete -c mettle -n '__mettle_verb iree' -l device -x \
    -a '(__mettle_devices)' -d 'the device'
